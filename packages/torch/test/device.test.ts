import { withDevice } from '@hidden-schema/testing/meta-device';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Group } from '../src/distributed/group.ts';
import {
  arange,
  bernoulli,
  dropout,
  engineInfo,
  eye,
  full,
  Generator,
  multinomial,
  nn,
  ones,
  rand,
  randint,
  randn,
  randperm,
  Tensor,
  tensor,
  useDevice,
  withoutKernels,
  zeros,
} from '../src/index.ts';
import * as optim from '../src/optim.ts';
import { native } from '../src/native.ts';
import { safetensorsBytes } from '../src/safetensors/writer.ts';

afterEach(() => void useDevice('cpu'));
const seeded = () => new Generator(7);

describe('the default device', () => {
  const makers: Record<string, () => Tensor> = {
    zeros: () => zeros([2]),
    ones: () => ones([2]),
    full: () => full([2], 3),
    arange: () => arange(3),
    eye: () => eye(2),
    'of nested arrays': () => tensor([[1, 2]]),
    'of a typed array': () => tensor(Int32Array.of(1, 2)),
    fromArray: () => Tensor.fromArray(Float64Array.of(1), [1]),
    rand: () => rand([2], seeded()),
    randn: () => randn([2], seeded()),
    randint: () => randint(5, [2], seeded()),
    randperm: () => randperm(5, seeded()),
    'a layer': () => new nn.Linear(2, 3, seeded()).weight,
    'a norm': () => new nn.LayerNorm(2).bias,
    'an undrawn layer': () => nn.undrawn(() => new nn.Linear(2, 3, seeded()).weight),
  };
  test.each(Object.entries(makers))('is where tensors are made: %s', (_, make) => {
    expect(make().device).toBe('cpu');
    expect(withDevice('meta', make).device).toBe('meta');
    expect(make().device).toBe('cpu');
  });

  test('counts less than a device that is named', () => {
    expect(withDevice('meta', () => zeros([1], { device: 'cpu' })).device).toBe('cpu');
  });

  test('comes back after a fault, and after a promise', async () => {
    expect(() =>
      withDevice('meta', () => {
        throw new Error('on the way');
      }),
    ).toThrow('on the way');
    expect(zeros([1]).device).toBe('cpu');
    const later = withDevice('meta', async () => {
      await Promise.resolve();
      return zeros([1]).device;
    });
    expect(await later).toBe('meta');
    expect(zeros([1]).device).toBe('cpu');
  });

  test('does not change what a generator draws, or how much', () => {
    const [here, there] = [seeded(), seeded()];
    rand([3, 2], here);
    dropout(ones([4]), 0.5, here);
    withDevice('meta', () => {
      rand([3, 2], there);
      dropout(ones([4]), 0.5, there);
    });
    expect(there.state()).toEqual(here.state());
  });
});

describe('a device that a user asks for', () => {
  test('is the CPU, or a card that is there', () => {
    expect(useDevice('cpu')).toBe('cpu');
    const cards = engineInfo().devices.length - 1;
    expect(useDevice('auto')).toBe(cards > 0 ? 'cuda:0' : 'cpu');
    expect(() => useDevice(`cuda:${cards}`)).toThrow(`device cuda:${cards} cannot be used: `);
  });

  test.each(['meta', 'gpu', 'cuda:', 'cuda:-1', 'cuda:1.5', '', 'CPU'])('is not %s', (name) => {
    expect(() => useDevice(name)).toThrow(`device: expected cpu, cuda, cuda:<number> or auto, got ${name}`);
  });

  test.each([
    [{ config: 'USE_CUDA=OFF, ', cudaDevices: 0 }, 'cuda', 'this libtorch was built without CUDA'],
    [
      { config: 'CUDA_VERSION=13.0, USE_CUDA=1, ', cudaDevices: 0 },
      'cuda',
      'libtorch has CUDA, but finds no graphics card or driver',
    ],
    [
      { config: 'USE_CUDA=ON, ', cudaDevices: 1 },
      'cuda:1',
      'this machine has 1 graphics card, and cuda:1 is not one of them',
    ],
  ])('is refused in a line where it is missing: %o', (machine, asked, reason) => {
    const info = native.info();
    const spy = vi.spyOn(native, 'info').mockReturnValue({ ...info, ...machine });
    expect(() => useDevice(asked)).toThrow(`device ${asked} cannot be used: ${reason}`);
    spy.mockRestore();
  });

  test('is the card of the process’s own rank', () => {
    vi.stubEnv('LOCAL_RANK', '2');
    const spy = vi.spyOn(native, 'info').mockReturnValue({ ...native.info(), cudaDevices: 3 });
    expect(useDevice('cuda')).toBe('cuda:2');
    expect(useDevice('auto')).toBe('cuda:2');
    expect(useDevice('cuda:1')).toBe('cuda:1');
    spy.mockRestore();
    vi.unstubAllEnvs();
  });
});

test('a group on graphics cards takes NCCL, and says so where libtorch has none', async () => {
  const spy = vi.spyOn(native, 'groupBackends').mockReturnValue(['gloo']);
  const place = { rank: 0, size: 2, address: '127.0.0.1', port: 1 };
  await expect(withDevice('cuda:0', () => Group.open(place))).rejects.toThrow(
    'libtorch was built without nccl, so processes cannot train together on graphics cards',
  );
  spy.mockRestore();
});

describe('off the CPU', () => {
  test('tensors of two devices are refused, whatever the operator', () => {
    const here = ones([2, 2]);
    const there = withDevice('meta', () => ones([2, 2]));
    for (const body of [
      () => here.matmul(there),
      () => there.matmul(here),
      () => there.add(here),
      () => there.indexSelect(0, Tensor.fromArray(Int32Array.of(0), [1])),
    ])
      expect(body).toThrow(/one device|same device/);
    // One number may come from anywhere, and copy_ moves numbers.
    expect(there.add(zeros([])).device).toBe('meta');
    expect(there.clone().copy_(here).device).toBe('meta');
  });

  test('draws by weights stay on their device', () => {
    const chances = withDevice('meta', () => full([2, 3], 0.5));
    expect(bernoulli(chances, seeded()).device).toBe('meta');
    expect(() => multinomial(chances, 1, seeded())).toThrow('meta');
  });

  test('a file is written from any device, and refused where there are no numbers', () => {
    const lost = withDevice('meta', () => zeros([2]));
    expect(() => safetensorsBytes('x', [['x', lost]])).toThrow('meta');
  });
});

describe('libtorch’s operators in place of a kernel', () => {
  test.each([0, 0.1, 0.5, 0.9])('draw the same dropout, p = %d', (p) => {
    const generator = seeded();
    generator.sharing({ index: 3, count: 4 }, () => {
      const x = ones([7, 41]);
      const own = dropout(x, p, generator);
      const again = seeded();
      const plain = again.sharing({ index: 3, count: 4 }, () => withoutKernels(() => dropout(x, p, again)));
      expect(plain.toArray()).toEqual(own.toArray());
    });
  });

  test.each([
    [true, 0.1],
    [false, 0.1],
    [false, 0],
  ])('update weights as the kernel does: decoupled %s, decay %d', (decoupled, decay) => {
    const trained = (within: <T>(body: () => T) => T): number[] => {
      const layer = new nn.Linear(5, 4, seeded());
      const groups = [{ parameters: [...layer.namedParameters()], rate: 0.05, decay }];
      const optimizer = new optim.Adam(groups, { decoupled });
      const generator = seeded();
      for (let step = 0; step < 5; step++) {
        optimizer.zeroGrad();
        layer
          .forward(randn([3, 5], generator))
          .mul(2)
          .sum()
          .backward();
        within(() => optimizer.step());
      }
      expect(optimizer.counts).toEqual([5]);
      return [...layer.parameters(), ...[...optimizer.namedTensors()].map(([, moment]) => moment)].flatMap(
        (each) => each.toNumbers(),
      );
    };
    const [own, plain] = [trained((body) => body()), trained(withoutKernels)];
    for (const [at, value] of plain.entries()) expect(value).toBeCloseTo(own[at]!, 6);
  });
});
