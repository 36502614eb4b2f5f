"""How the page looks: on light and dark screens and on paper, in colours that most eyes tell apart (Okabe and Ito)."""

from typing import Final

from evac.report.markup import Html

STYLE: Final = Html("""
:root{color-scheme:light dark;--bg:#fff;--fg:#1c2126;--dim:#5b6570;--line:#d5dbe1;--panel:#f5f7f9;
--waiting:#b4bdc6;--held:#e69f00;--finishing:#cc79a7;--released:#56b4e9;--replaced:#0072b2;--stopping:#009e73;
--against:#8e5cc2;--lost:#c43d00;--ready:#0072b2;--good:#00745a;--on-lost:#fff;--cordon:#0072b2;--safe:#7a5b00}
@media(prefers-color-scheme:dark){:root{--bg:#14181c;--fg:#e4e9ee;--dim:#9aa5b0;--line:#343c44;--panel:#1c2228;
--waiting:#5d6873;--replaced:#3f97d6;--stopping:#1fb58a;--against:#b48ae0;--lost:#ff7a45;--ready:#6cbcf0;--good:#3ccba0;
--on-lost:#14181c;--cordon:#6cbcf0;--safe:#e8c55a}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.2rem 1.6rem 4rem;max-width:1500px;background:var(--bg);color:var(--fg);
font:14px/1.45 system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
h1{font-size:1.45rem;line-height:1.3;margin:.3rem 0 .8rem;padding-left:.7rem;border-left:.4rem solid var(--good)}
h1.bad{border-color:var(--lost)}h1.costly{border-color:var(--held)}
h2{font-size:1.15rem;margin:2rem 0 .3rem}
small{color:var(--dim);font-size:.85em;font-weight:normal;margin-left:.6em;overflow-wrap:anywhere}
em{font-style:normal;font-weight:600;color:var(--lost)}
.about{display:flex;justify-content:space-between;gap:1rem;color:var(--dim);margin:0}
button{font:inherit;color:inherit;background:var(--panel);border:1px solid var(--line);border-radius:4px;
padding:.1em .7em;margin-left:.4em;cursor:pointer}
.findings{list-style:none;margin:0;padding:0}
.findings li{padding:.15rem 0 .15rem 1.3rem;text-indent:-1.3rem;overflow-wrap:anywhere}
.findings li::before{display:inline-block;width:1.3rem;text-indent:0;font-weight:700}
.findings .bad::before{content:"✕";color:var(--lost)}.findings .costly::before{content:"!";color:var(--held)}
.findings .note::before{content:"·";color:var(--dim)}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;margin:.3rem 0 .6rem;color:var(--dim);font-size:.9em}
.legend span{display:flex;align-items:center;gap:.4em}
.key{width:1.4em;height:.75em;border-radius:2px;display:inline-block}
.key.safe-tick{width:3px;height:1em}
.row{display:grid;grid-template-columns:minmax(9rem,17rem) minmax(0,1fr) 12.5rem;gap:0 .8rem;align-items:center}
.chart{border:1px solid var(--line);border-radius:6px;padding:0 .8rem .6rem}
.head{position:sticky;top:0;z-index:3;background:var(--bg);border-bottom:1px solid var(--line);padding-top:.4rem}
.head>div:nth-child(2){position:relative}
.names{position:relative;font-size:.8em;font-weight:600}
.name{position:absolute;white-space:nowrap;padding:0 .3em;border-left:2px solid}
.name.late{border-left:0;border-right:2px solid}
.name.cordon{color:var(--cordon)}.name.exclude{color:var(--dim)}.name.safe{color:var(--safe)}
.name.reclaim{color:var(--lost)}
.ticks{position:relative;height:1.4em;font-size:.8em;color:var(--dim)}
.ticks .tick{position:absolute;transform:translateX(-50%)}
.plot{position:relative}
.overlay{position:absolute;inset:0;display:grid;grid-template-columns:minmax(9rem,17rem) minmax(0,1fr) 12.5rem;
gap:0 .8rem;pointer-events:none}
.lines{grid-column:2;position:relative}
.lines i{position:absolute;top:0;bottom:0;border-left:1px solid var(--line)}
.lines i.cordon{border-left:1px dashed var(--cordon)}.lines i.exclude{border-left:1px dotted var(--dim)}
.lines i.safe{border-left:1px dashed var(--safe)}.lines i.reclaim{border-left:2px solid var(--lost)}
.label{white-space:nowrap;overflow:hidden;text-overflow:ellipsis;position:relative}
.budgets{padding:.4rem 0;border-bottom:1px solid var(--line)}
.budgets .row{min-height:1.6em}.budgets small{display:inline-block}
.budgets .label{white-space:normal;overflow-wrap:anywhere}
.out{font-size:.88em;color:var(--dim);white-space:nowrap}
.out small{display:block;margin:0;white-space:normal}
.budgets .out,.workload .out{white-space:normal}
.cell{position:relative;line-height:0}
.workload{min-height:2.6rem}
.workload .label{white-space:normal;overflow-wrap:anywhere;line-height:1.3}
.scale{position:absolute;right:100%;top:0;bottom:0;display:flex;flex-direction:column;justify-content:space-between;
font-size:.72em;line-height:1;color:var(--dim);margin-right:.25em}
.pod .label{font-size:.88em;padding-left:2rem;color:var(--dim)}
.pod:hover{background:color-mix(in srgb,var(--fg) 7%,transparent)}
svg{display:block;overflow:visible}
svg rect:not(.touch):hover{stroke:var(--fg);stroke-width:1}
.waiting{fill:var(--waiting);background:var(--waiting)}.held{fill:var(--held);background:var(--held)}
.finishing{fill:var(--finishing);background:var(--finishing)}.released{fill:var(--released);background:var(--released)}
.replaced{fill:var(--replaced);background:var(--replaced)}.stopping{fill:var(--stopping);background:var(--stopping)}
.against{fill:var(--against);background:var(--against)}.safe-tick{fill:var(--safe);background:var(--safe)}
.missing,.exceeded{fill:var(--lost);fill-opacity:.55}.key.missing{background:var(--lost);opacity:.55}
.exceeded{fill-opacity:.85}.rail{fill:var(--line)}.touch{fill:transparent}
.touch:hover{fill:var(--fg);fill-opacity:.08}
.cross{fill:var(--lost);color:var(--lost);font:700 13px system-ui,"DejaVu Sans",sans-serif}
.number{fill:var(--on-lost);font:700 10px system-ui,sans-serif;pointer-events:none}
polyline{fill:none;vector-effect:non-scaling-stroke;pointer-events:none}
.ready{stroke:var(--ready);stroke-width:2}.wanted{stroke:var(--dim);stroke-width:1;stroke-dasharray:3 3}
.group{border-top:1px solid var(--line);margin-top:.3rem;padding-top:.3rem}
.group>summary{list-style:none;padding:0;font-size:1em}.group>summary::-webkit-details-marker{display:none}
.workload .label{padding-left:1.1rem}
.workload .label::before{content:"▸";position:absolute;left:0;color:var(--dim)}
.group[open]>summary .label::before{content:"▾"}
.workload strong{font-weight:600;color:var(--fg);font-size:14px}
.workload small{display:block;margin:0}
.key.line{height:0;border-top:2px solid var(--ready)}.key.dashes{height:0;border-top:1px dashed var(--dim)}
details>summary{cursor:pointer;font-size:.88em;color:var(--dim);padding:.1rem 0;position:relative}
.figures{margin-top:1rem}.figures>summary{font-size:1em;color:var(--fg)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;margin:.8rem 0;font-size:.88em;font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:600;padding:.2rem 0}
th,td{text-align:left;padding:.15rem .8rem .15rem 0;border-bottom:1px solid var(--line);vertical-align:top}
td{max-width:38rem;overflow-wrap:break-word}td:last-child{overflow-wrap:anywhere}th{color:var(--dim);font-weight:600;white-space:nowrap}
@media(max-width:800px){.row,.overlay{grid-template-columns:7rem minmax(0,1fr) 6rem}.out{white-space:normal}
body{padding:.6rem}}
@page{size:landscape;margin:12mm}
@media print{body{max-width:none;padding:0;font-size:9pt;print-color-adjust:exact;-webkit-print-color-adjust:exact}
.head{position:static}button{display:none}.row{break-inside:avoid}.scroll{overflow:visible}
.row,.overlay{grid-template-columns:13rem minmax(0,1fr) 11rem}}
""")
