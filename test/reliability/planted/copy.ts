import { type Mutant, witness } from './mutant.ts'

/** Mistakes in copying a file into PostgreSQL, and in pacing long work. */
export const COPY: Mutant[] = [
  {
    name: 'copy-sums-not-compared',
    file: 'src/transfer/copy.ts',
    from: 'if (written.sum !== read.sum)',
    to: 'if (written.count !== read.count)',
    noticedBy: witness('test/transfer/copy.test.ts', 'a lost row and an altered row each stop'),
  },
  {
    name: 'copy-into-a-filled-target',
    file: 'src/transfer/copy.ts',
    from: 'if (found.length > 0)',
    to: 'if (found.length > tables.length)',
    noticedBy: witness('test/transfer/copy.test.ts', 'a target with rows gets nothing'),
  },
  {
    name: 'copy-without-serving-lock',
    file: 'src/sqlite/copy.ts',
    from:
      '    const lock = await takeServingLock(path, SERVING_WAIT_MS)\n' +
      '    opened.push(() => lock.release())\n',
    to: '',
    noticedBy: witness(
      'test/reliability/postgres/copy/refused.test.ts',
      'copy refuses a served file',
    ),
  },
  {
    name: 'copy-without-write-lock',
    file: 'src/sqlite/copy.ts',
    from: "    database.exec('BEGIN IMMEDIATE')\n",
    to: '',
    noticedBy: witness(
      'test/reliability/postgres/copy/interrupted.test.ts',
      'no process can serve the file',
    ),
  },
  {
    name: 'batches-without-pause',
    file: 'src/transfer/batches.ts',
    from: 'await pacing.pause(pause)',
    to: 'await pacing.pause(0)',
    noticedBy: witness('test/transfer/batches.test.ts', 'between two batches there is a pause'),
  },
]
