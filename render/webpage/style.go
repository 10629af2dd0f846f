package webpage

// style is the style sheet of pages. Text has a contrast of at least 4.5 in both color schemes.
const style = `:root{color-scheme:light dark;--bg:#fff;--fg:#24292f;--dim:#57606a;--line:#d5dae0;--card:#f6f8fa;--bad:#b0121f;--warn:#7d4e00;--info:#0550ae;--good:#116329;--link:#0550ae;
}
@media screen and (prefers-color-scheme:dark){:root{--bg:#16191d;--fg:#d8dee9;--dim:#9aa4b2;--line:#353b44;--card:#1f242a;--bad:#ff7b86;--warn:#ebcb8b;--info:#88c0d0;--good:#a3be8c;--link:#88c0d0;
}}
*{box-sizing:border-box}
body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:76rem;overflow-wrap:anywhere;padding:1.5rem 1rem}
h1{border-left:5px solid var(--line);font-size:1.45rem;line-height:1.3;margin:0;padding-left:.8rem}
h1.bad{border-color:var(--bad)}h1.warn{border-color:var(--warn)}h1.good{border-color:var(--good)}
h2{border-bottom:1px solid var(--line);font-size:1.15rem;margin:2.2rem 0 .7rem;padding-bottom:.2rem}h3{font-size:1rem;margin:1rem 0 .3rem}
p{margin:.35rem 0}a{color:var(--link)}a:focus-visible,button:focus-visible,summary:focus-visible,[tabindex]:focus-visible{outline:2px solid var(--link);outline-offset:2px}
.dim,dt,th,.source{color:var(--dim)}.good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}.title{font-weight:600}
.under{color:var(--dim);margin:.3rem 0 0;padding-left:1.1rem}.skip{left:-99rem;position:absolute}.skip:focus{left:1rem;background:var(--bg);padding:.3rem}
nav{margin:1.2rem 0 0;padding-left:1.1rem}nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;list-style:none;margin:0;padding:0}
dl{display:grid;gap:.15rem 1rem;grid-template-columns:max-content minmax(0,1fr);margin:.5rem 0}dd{margin:0}.answer{font-size:1.02rem;margin:1.2rem 0 .8rem;padding-left:1.1rem}
.answer dt{font-weight:600}
code,pre{font:.9em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.cmd{align-items:flex-start;background:var(--card);border:1px solid var(--line);border-radius:4px;display:flex;margin:.4rem 0}
.cmd pre{flex:1;margin:0;min-width:0;overflow-x:auto;padding:.5rem .7rem;white-space:pre}.cmd button:not([hidden]){background:var(--bg);border:1px solid var(--line);border-radius:4px;color:var(--fg);cursor:pointer;flex:none;font:inherit;font-size:.8rem;margin:.35rem .4rem 0 0;padding:.1rem .5rem}
.cmd+p{color:var(--dim);margin:.1rem 0 .7rem}
.cards{display:flex;flex-wrap:wrap;gap:.6rem;margin:.6rem 0}.cards div{background:var(--card);border:1px solid var(--line);border-radius:4px;min-width:9rem;padding:.5rem .8rem}
.cards strong{display:block;font-size:1.3rem;font-variant-numeric:tabular-nums}.cards span{color:var(--dim);display:block;font-size:.85rem}
.wide{overflow-x:auto;position:relative}
.wide:has(>table){background:linear-gradient(90deg,var(--bg) 30%,transparent) 0 0/2rem 100% local no-repeat,linear-gradient(270deg,var(--bg) 30%,transparent) 100% 0/2rem 100% local no-repeat,linear-gradient(90deg,var(--line),transparent) 0 0/.7rem 100% scroll no-repeat,linear-gradient(270deg,var(--line),transparent) 100% 0/.7rem 100% scroll no-repeat}
table{border-collapse:collapse;font-size:.9rem;margin:.4rem 0}td,th{overflow-wrap:normal;padding:.12rem .9rem .12rem 0;text-align:left;vertical-align:top}
thead th{border-bottom:1px solid var(--line);font-weight:600;white-space:nowrap}td.n,th.n{font-variant-numeric:tabular-nums;text-align:right;white-space:nowrap}tbody th{font-weight:normal}
figure{margin:1rem 0}figure .wide>svg{display:block;height:auto;max-width:100%}figure.scroll .wide>svg{min-width:40rem}figcaption{color:var(--dim);font-size:.9rem}.on-dark{display:none}
@media screen and (prefers-color-scheme:dark){.on-dark{display:block}.on-light:has(+.on-dark){display:none}}
details{margin:.4rem 0}summary{cursor:pointer}ul{margin:.3rem 0;padding-left:1.2rem}
.finding{background:var(--card);border:1px solid var(--line);border-left:4px solid var(--info);border-radius:4px;break-inside:avoid;margin:.8rem 0;padding:.7rem 1rem}
.finding .cmd{background:var(--bg)}.finding.error{border-left-color:var(--bad)}.finding.warning{border-left-color:var(--warn)}.finding h3{margin:0}
.finding.error h3 span{color:var(--bad)}.finding.warning h3 span{color:var(--warn)}.finding.info h3 span{color:var(--info)}
.depth1{margin-left:1.5rem}.depth2{margin-left:3rem}.depth3{margin-left:4.5rem}.depth4{margin-left:6rem}


footer{border-top:1px solid var(--line);color:var(--dim);font-size:.88rem;margin-top:2.5rem;padding-top:.6rem}
@media (max-width:40rem){.cmd pre{white-space:pre-wrap}table{font-size:.8rem}td,th{padding-right:.5rem}body{padding:1rem .75rem}h1{font-size:1.2rem}dl{grid-template-columns:minmax(0,1fr)}dt{margin-top:.3rem}.depth1,.depth2,.depth3,.depth4{margin-left:.6rem}.cards div{flex:1 1 8rem}}
@media print{body{font-size:10pt;max-width:none;padding:0}nav,.skip,.cmd button{display:none}.cmd pre{white-space:pre-wrap}.finding,.cmd{background:none}tr{break-inside:avoid}h3{break-after:avoid}h2{break-after:avoid}*{print-color-adjust:exact}.wide{overflow:visible}figure.scroll .wide>svg{min-width:0}}
`

// script copies commands. Its buttons are hidden until it runs.
const script = `(function(){
var said=document.getElementById("said");
function copied(b){b.textContent="Copied";said.textContent="Copied to the clipboard";setTimeout(function(){b.textContent="Copy";said.textContent=""},2000)}
function mark(code){var r=document.createRange();r.selectNodeContents(code);var s=getSelection();s.removeAllRanges();s.addRange(r)}
document.querySelectorAll(".cmd button").forEach(function(b){
b.hidden=false;
b.addEventListener("click",function(){
var code=b.parentNode.querySelector("code");
if(navigator.clipboard&&isSecureContext){navigator.clipboard.writeText(code.textContent).then(function(){copied(b)},function(){mark(code);said.textContent="Selected: press Ctrl+C to copy"})}
else{mark(code);if(document.execCommand("copy")){copied(b)}else{said.textContent="Selected: press Ctrl+C to copy"}}
})})})()`
