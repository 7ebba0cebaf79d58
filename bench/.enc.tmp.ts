import { Generator, nn, optim, randn, scope, setThreads, type Tensor, noGrad, ones } from '/work/main/packages/torch/src/index.ts';
setThreads(1);
const W=256;
const g=new Generator(0);
class B extends nn.Module { attention=new nn.MultiHeadAttention(W,2,g,{dropout:0.2}); rise=new nn.Linear(W,W,g); fall=new nn.Linear(W,W,g); norms=[new nn.LayerNorm(W),new nn.LayerNorm(W)]; dropout=new nn.Dropout(0.2,g);
 forward(x: Tensor){const m=this.norms[0]!.forward(x.add(this.dropout.forward(this.attention.forward(x)))); const i=this.dropout.forward(this.rise.forward(m).relu()); return this.norms[1]!.forward(m.add(this.dropout.forward(this.fall.forward(i))));}}
class E extends nn.Module { blocks=[new B(),new B()]; }
const m=new E(); const o=new optim.Adam([{parameters:[...m.namedParameters()],rate:1e-4}]); const x=randn([256,11,W],g);
const cpu=()=>{const u=process.cpuUsage();return (u.user+u.system)/1e3};
const parts=[0,0,0];
const step=()=>scope(()=>{const t0=cpu();o.zeroGrad(); const l=m.blocks[1]!.forward(m.blocks[0]!.forward(x)).pow(2).mean(); const t1=cpu(); l.backward(); const t2=cpu(); o.step(); const t3=cpu(); parts[0]!+=t1-t0;parts[1]!+=t2-t1;parts[2]!+=t3-t2;});
for(let i=0;i<3;i++)step(); parts.fill(0);
const N=20; const t=cpu(); for(let i=0;i<N;i++)step(); console.log('ours cpu ms/step',(cpu()-t)/N, parts.map(p=>(p/N).toFixed(1)));
const [a,b]=[ones([8]),ones([8])];
const adds=()=>{for(let s=0;s<2000;s++)scope(()=>{for(let i=0;i<100;i++)a.add(b)})};
noGrad(adds); let t1=cpu(); noGrad(adds); console.log('add nograd us',(cpu()-t1)/200); a.requireGrad(); adds(); t1=cpu(); adds(); console.log('add grad us',(cpu()-t1)/200);
