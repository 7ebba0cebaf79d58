// A process that takes a lock and keeps it: node --import tsx lock-holder.ts <file> [child]
import { spawn } from 'node:child_process';
import { Lock } from '@hidden-schema/torch';

const [file, more] = process.argv.slice(2);
try {
  Lock.acquire(file!, file!);
  const child = more === 'child' ? spawn('sleep', ['600'], { stdio: 'ignore', detached: true }) : undefined;
  process.stdout.write(`held ${child?.pid ?? ''}\n`);
  setInterval(() => {}, 1000);
} catch (error) {
  process.stdout.write(`refused ${(error as Error).message}\n`);
}
