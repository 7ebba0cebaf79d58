import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { ROOT } from '../packages.ts';
import { distInfo, PIP_PACKAGES, type Wheel } from './wheel.ts';

/** Where systems keep the licence of GCC's libraries with its runtime exception, and the GPL that it refers to. */
const GCC_PLACES = [
  ['/usr/share/doc/libgomp1/copyright', '/usr/share/common-licenses/GPL-3'],
  ['/usr/share/licenses/libgomp/COPYING.RUNTIME', '/usr/share/licenses/libgomp/COPYING3'],
];

/** One part of the package and where its licence lies: a file, or a folder of files. */
interface Licensed {
  readonly part: string;
  readonly terms: string;
  readonly folder: string;
  readonly sources: readonly string[];
}

/** Copies the licence of every part into a folder, with a README that says which is whose. */
export function copyLicences(wheel: Wheel, platform: NodeJS.Platform, out: string): void {
  const parts = [
    ownPart(),
    torchPart(wheel),
    ...(platform === 'linux' ? [gccPart(), ...mklPart(wheel)] : []),
  ];
  const rows = parts.map(({ part, terms, folder }) => `| ${part} | ${terms} | [${folder}](${folder}) |`);
  for (const { folder, sources } of parts)
    for (const source of sources) copyPlainly(source, path.join(out, folder, path.basename(source)));
  const lines = ['# Licences', '', '| part | licence | texts |', '| --- | --- | --- |', ...rows, ''];
  fs.writeFileSync(path.join(out, 'README.md'), lines.join('\n'));
}

/** Copies files without their times and owners, which would differ from machine to machine. */
function copyPlainly(from: string, to: string): void {
  const real = fs.realpathSync(from);
  fs.cpSync(real, to, { recursive: true, dereference: true });
}

function ownPart(): Licensed {
  const modules = path.join(ROOT, 'node_modules');
  return {
    part: 'Hidden Schema Networks, with node-addon-api (torch.node, lock.node, the operators)',
    terms: 'MIT',
    folder: 'hidden-schema-networks',
    sources: [path.join(ROOT, 'LICENSE'), path.join(modules, 'node-addon-api/LICENSE.md')],
  };
}

function torchPart({ site }: Wheel): Licensed {
  const licences = path.join(distInfo(site, 'torch') ?? site, 'licenses');
  if (!fs.existsSync(licences))
    throw new UserError(
      `torch's licences are not in ${site}: install its wheel with pip, and do not copy it`,
    );
  const sources = fs.readdirSync(licences).map((name) => path.join(licences, name));
  const part = 'PyTorch and the libraries inside libtorch_cpu and libc10';
  return { part, terms: 'BSD-3-Clause, and those in third_party', folder: 'pytorch', sources };
}

function gccPart(): Licensed {
  const sources = GCC_PLACES.find((files) => files.every((file) => fs.existsSync(file)));
  if (sources === undefined)
    throw new UserError(
      `the licence of libgomp is in none of ${GCC_PLACES.flat().join(', ')}: install libgomp`,
    );
  return {
    part: 'libgomp (libgomp.so.1)',
    terms: 'GPL-3.0 with the GCC Runtime Library Exception 3.1',
    folder: 'libgomp',
    sources,
  };
}

/** Intel's library for matrix products is part of libtorch_cpu on Intel's and AMD's processors alone. */
function mklPart({ libtorch, site }: Wheel): Licensed[] {
  if (process.arch !== 'x64') return [];
  const info = distInfo(site, 'onemkl_license');
  if (info === undefined)
    throw new UserError(
      `the licence of the MKL inside libtorch ${libtorch.version} is not in ${site}: pip install ${PIP_PACKAGES[1]}`,
    );
  const record = fs.readFileSync(path.join(info, 'RECORD'), 'utf8');
  const others = [...record.matchAll(/^([^,\n]*\/third-party-programs\.txt),/gm)].map(([, file]) =>
    path.join(site, file!),
  );
  return [
    {
      part: 'Intel oneAPI Math Kernel Library, inside libtorch_cpu',
      terms: 'Intel Simplified Software License',
      folder: 'onemkl',
      sources: [path.join(info, 'LICENSE.txt'), ...others],
    },
  ];
}
