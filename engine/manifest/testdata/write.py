"""Writes a segment of storage version 3 with the C++ library of milvus-storage: see README.md."""
import sys, os, re, subprocess, ctypes as C
P=os.environ['MILVUS_STORAGE_LIBRARY']
lib=C.CDLL(P, mode=os.RTLD_LAZY|getattr(os,'RTLD_DEEPBIND',0))
base_addr=None
for l in open('/proc/self/maps'):
    if 'libmilvus-storage.so' in l:
        base_addr=int(l.split('-')[0],16); break
syms={}
for l in subprocess.run(['nm',P],capture_output=True,text=True).stdout.splitlines():
    p=l.split()
    if len(p)==3 and p[2].startswith('loon_'): syms[p[2]]=int(p[0],16)
class R(C.Structure): _fields_=[('code',C.c_int),('message',C.c_char_p)]
def fn(name,*args,res=R):
    f=C.CFUNCTYPE(res,*args)(base_addr+syms[name])
    def call(*a):
        r=f(*a)
        if res is R and r.code!=0: raise RuntimeError(f'{name}: {r.code} {r.message}')
        return r
    return call
import pyarrow as pa, numpy as np
from pyarrow.cffi import ffi
V=C.c_void_p
class Props(C.Structure): _fields_=[('p',V),('n',C.c_size_t)]
class File(C.Structure): _fields_=[('path',C.c_char_p),('start',C.c_int64),('end',C.c_int64),('meta',V),('metalen',C.c_uint64)]
class Group(C.Structure): _fields_=[('columns',C.POINTER(C.c_char_p)),('ncol',C.c_uint32),('format',C.c_char_p),('files',C.POINTER(File)),('nfiles',C.c_uint32)]
class Groups(C.Structure): _fields_=[('a',C.POINTER(Group)),('n',C.c_uint32)]
root,fmt,base=sys.argv[1:4]; os.makedirs(root,exist_ok=True)
n=200; dim=8
rng=np.random.default_rng(5); v=rng.normal(size=(n,dim)).astype('float32')
def f(name,t): return pa.field(name,t,False,metadata={'PARQUET:field_id':name})
schema=pa.schema([f('0',pa.int64()),f('1',pa.int64()),f('100',pa.int64()),f('101',pa.binary(dim*4))])
ts0=455000000000000000
def batch(lo,hi):
    return pa.record_batch([pa.array(np.arange(lo,hi)+7000),pa.array(np.arange(lo,hi)+ts0),pa.array(np.arange(lo,hi)*3),pa.array([v[i].tobytes() for i in range(lo,hi)],pa.binary(dim*4))],schema=schema)
kv={'fs.storage_type':'local','fs.root_path':root,'writer.policy':'schema_based','writer.split.schema_based.patterns':'0|1|100,101','format':fmt}
props=Props()
ks=(C.c_char_p*len(kv))(*[k.encode() for k in kv]); vs=(C.c_char_p*len(kv))(*[x.encode() for x in kv.values()])
fn('loon_properties_create',C.POINTER(C.c_char_p),C.POINTER(C.c_char_p),C.c_size_t,C.POINTER(Props))(ks,vs,len(kv),C.byref(props))
wnew=fn('loon_writer_new',C.c_char_p,V,V,C.POINTER(V)); wwrite=fn('loon_writer_write',V,V); wclose=fn('loon_writer_close',V,V,V,C.c_uint16,C.POINTER(C.POINTER(Groups)))
tbegin=fn('loon_transaction_begin',C.c_char_p,V,C.c_int64,C.c_uint32,C.POINTER(V))
tappend=fn('loon_transaction_append_files',V,C.POINTER(Groups)); tcommit=fn('loon_transaction_commit',V,C.POINTER(C.c_int64))
tdelta=fn('loon_transaction_add_delta_log',V,C.c_char_p,C.c_int64); tstat=fn('loon_transaction_update_stat',V,C.c_char_p,C.POINTER(C.c_char_p),C.c_size_t)
def write(lo,hi):
    s=ffi.new('struct ArrowSchema*'); schema._export_to_c(int(ffi.cast('uintptr_t',s)))
    h=V(); wnew(base.encode(),int(ffi.cast('uintptr_t',s)),C.addressof(props),C.byref(h))
    for a in range(lo,hi,250):
        arr=ffi.new('struct ArrowArray*'); batch(a,min(hi,a+250))._export_to_c(int(ffi.cast('uintptr_t',arr)))
        wwrite(h,int(ffi.cast('uintptr_t',arr)))
    out=C.POINTER(Groups)(); wclose(h,None,None,0,C.byref(out))
    g=out.contents
    for i in range(g.n):
        x=g.a[i]; print('group',[x.columns[j] for j in range(x.ncol)],x.format,[(x.files[j].path,x.files[j].start,x.files[j].end,x.files[j].metalen) for j in range(x.nfiles)])
    return out
def commit(groups,extra=False):
    t=V(); tbegin(base.encode(),C.addressof(props),-1,3,C.byref(t))
    if groups is not None: tappend(t,groups)
    if extra:
        tdelta(t,b'_delta/455000000000009001',25)
        tstat(t,b'bloom_filter.100',(C.c_char_p*2)(b'_stats/bloom_filter.100/1',b'_stats/bloom_filter.100/2'),2)
    ver=C.c_int64(); tcommit(t,C.byref(ver)); print('committed',ver.value)
if __name__=='__main__':
    commit(write(0,120)); commit(write(120,200)); commit(None,True)
    np.save(root+'/vectors.npy',v)
