import ctypes, json, numpy as np, os
L=os.path.join(os.path.dirname(os.path.abspath(__file__)),'venv/lib/python3.11/site-packages/milvus_lite/lib')
lib=ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)),'libshim.so'))
lib.kw_create.restype=ctypes.c_void_p; lib.kw_error.restype=ctypes.c_char_p
def P(a): return None if a is None else a.ctypes.data_as(ctypes.c_void_p)
lib.kw_threads(2,0)
class CSR:
    def __init__(s, rows):  # list of (idx list, val list)
        s.ptr=np.cumsum([0]+[len(r[0]) for r in rows]).astype(np.int64)
        s.idx=np.concatenate([np.asarray(r[0],np.uint32) for r in rows]+[np.zeros(0,np.uint32)]).astype(np.uint32)
        s.val=np.concatenate([np.asarray(r[1],np.float32) for r in rows]+[np.zeros(0,np.float32)]).astype(np.float32)
        s.n=len(rows); s.dim=int(s.idx.max())+1 if len(s.idx) else 0
    def row(s,i): return s.idx[s.ptr[i]:s.ptr[i+1]], s.val[s.ptr[i]:s.ptr[i+1]]
def bits(mask):
    if mask is None: return None,0
    b=np.packbits(np.asarray(mask,np.uint8),bitorder='little'); return b,len(mask)
class Index:
    def __init__(s,name,version=6):
        s.name=name; s.h=lib.kw_create(name.encode(),version); assert s.h, lib.kw_error()
        s.h=ctypes.c_void_p(s.h)
    def build(s,x,**cfg):
        j=json.dumps(cfg).encode()
        if isinstance(x,CSR): st=lib.kw_build_sparse(s.h,ctypes.c_int64(x.n),ctypes.c_int64(x.dim),P(x.ptr),P(x.idx),P(x.val),j)
        else:
            x=np.ascontiguousarray(x,np.float32); st=lib.kw_build(s.h,ctypes.c_int64(x.shape[0]),ctypes.c_int64(x.shape[1]),P(x),j)
        assert st==0,st
    def save(s,path): 
        st=lib.kw_save(s.h,path.encode()); assert st==0,st
    def load(s,path,**cfg):
        st=lib.kw_load(s.h,s.name.encode(),path.encode(),json.dumps(cfg).encode()); assert st==0,st
    def search(s,q,k,mask=None,**cfg):
        cfg['k']=k; j=json.dumps(cfg).encode(); b,n=bits(mask)
        if isinstance(q,CSR):
            ids=np.zeros((q.n,k),np.int64); d=np.zeros((q.n,k),np.float32)
            st=lib.kw_search_sparse(s.h,ctypes.c_int64(q.n),P(q.ptr),P(q.idx),P(q.val),j,P(b),ctypes.c_int64(n),P(ids),P(d))
        else:
            q=np.ascontiguousarray(q,np.float32); ids=np.zeros((q.shape[0],k),np.int64); d=np.zeros((q.shape[0],k),np.float32)
            st=lib.kw_search(s.h,ctypes.c_int64(q.shape[0]),ctypes.c_int64(q.shape[1]),P(q),j,P(b),ctypes.c_int64(n),P(ids),P(d))
        assert st==0,(st,lib.kw_error())
        return ids,d
def brute(base,q,k,mask=None,**cfg):
    cfg['k']=k; j=json.dumps(cfg).encode(); b,n=bits(mask)
    ids=np.zeros((q.n,k),np.int64); d=np.zeros((q.n,k),np.float32)
    st=lib.kw_brute_sparse(ctypes.c_int64(base.n),P(base.ptr),P(base.idx),P(base.val),ctypes.c_int64(q.n),P(q.ptr),P(q.idx),P(q.val),j,P(b),ctypes.c_int64(n),P(ids),P(d))
    assert st==0,(st,lib.kw_error())
    return ids,d
def random_rows(rng,n,dims,mean,kind='ip',negative=0.0):
    rows=[]
    for _ in range(n):
        m=min(dims,int(rng.poisson(mean)))
        p=np.unique((dims*rng.random(m)**3).astype(np.int64))
        if kind=='ip':
            v=np.abs(rng.standard_normal(len(p))).astype(np.float32)
            if negative: v*=np.where(rng.random(len(p))<negative,-1,1).astype(np.float32)
        else: v=rng.integers(1,8,len(p)).astype(np.float32)
        rows.append((p,v))
    return CSR(rows)
