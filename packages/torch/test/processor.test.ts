import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { blasCore, chooseBlasCore, packedProducts } from '../src/processor.ts';

const cpuinfo = (vendor: string, flags: string) =>
  `processor\t: 0\nvendor_id\t: ${vendor}\nmodel\t\t: 207\nflags\t\t: fpu ${flags} sse2\nbogomips\t: 4600\n`;
const wide = 'avx2 fma avx512f avx512dq avx512cd avx512bw avx512vl';

describe('the OpenBLAS kernel', () => {
  test.each([
    ['GenuineIntel', wide, 'SKYLAKEX'],
    ['AuthenticAMD', wide, 'SKYLAKEX'],
    ['GenuineIntel', 'avx2 fma avx512f', 'HASWELL'],
    ['AuthenticAMD', 'avx2 fma', 'ZEN'],
    ['GenuineIntel', 'avx', undefined],
  ])('of %s with %s is %s', (vendor, flags, core) => {
    expect(blasCore(cpuinfo(vendor, flags))).toBe(core);
  });
  test('is left to OpenBLAS where flags are not given', () => {
    expect(blasCore('processor\t: 0\nFeatures\t: fp asimd\n')).toBeUndefined();
    expect(blasCore('')).toBeUndefined();
  });
  test('packed products are those of its instructions', () => {
    const wide = 'avx512f avx512cd avx512bw avx512dq avx512vl';
    const of = (flags: string) => packedProducts(cpuinfo('AuthenticAMD', flags));
    expect(of(wide)).toEqual({ float32: true, bfloat16: false, int8: false });
    expect(of(`${wide} avx512_vnni avx512_bf16`)).toEqual({ float32: true, bfloat16: true, int8: true });
    expect(of('avx2 fma avx512f avx512_vnni')).toEqual({ float32: false, bfloat16: false, int8: false });
    expect(packedProducts('')).toEqual({ float32: false, bfloat16: false, int8: false });
  });
  test("is the user's where they chose one", () => {
    const environment = { OPENBLAS_CORETYPE: 'PRESCOTT' };
    chooseBlasCore(environment);
    expect(environment.OPENBLAS_CORETYPE).toBe('PRESCOTT');
  });
  test.runIf(process.platform === 'linux')('is the one that OpenBLAS then loads', () => {
    const expected = blasCore(readFileSync('/proc/cpuinfo', 'utf8'));
    const source = fileURLToPath(new URL('../src/native.ts', import.meta.url));
    const { OPENBLAS_CORETYPE: _, ...rest } = process.env;
    const env = { ...rest, OPENBLAS_VERBOSE: '2' };
    const args = ['--import', 'tsx', '-e', `import(${JSON.stringify(source)})`];
    const { stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    const loaded = /^Core: (\w+)$/m.exec(stderr)?.[1];
    // A libtorch on MKL says nothing.
    if (loaded !== undefined && expected !== undefined) expect(loaded.toUpperCase()).toBe(expected);
    else expect(stderr).toBe('');
  });
});
