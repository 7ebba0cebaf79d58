// node --import tsx packages/hsn/test/kernel-fuzz.ts --count 100000 --seed 1
// Expected: {"fuzz":"operators","operators":23,"calls":100000,"agreed":…,"refused":…,"faults":0,…}
import { operators, runFuzz } from '../../torch/test/operator-fuzz.ts';
import { kernels } from './kernel-cases.ts';

runFuzz({ ...operators, ...kernels });
