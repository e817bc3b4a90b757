import assert from 'node:assert/strict'
import { type EndedHere, runHere } from '../../../cli/here.ts'
import type { Operation } from '../sweep.ts'

interface CommandOptions extends Partial<Omit<Operation<EndedHere>, 'name' | 'isRepetition'>> {
  stdin?: string
  /** What a repetition may answer if the first run succeeded. */
  repeated?: RegExp
}

/** A command that runs in this process. If it fails, it must say so in one sentence. */
export function command(
  args: string,
  { stdin = '', repeated, isInParts = false, ...rest }: CommandOptions = {},
): Operation<EndedHere> {
  return {
    name: args,
    audited: [],
    following: ['audit_log'],
    isInParts: isInParts || rest.isBetween !== undefined,
    run: () => runHere(args, stdin),
    isDone: ({ code }) => code === 0,
    isRepetition: ({ stderr }) => repeated?.test(stderr) ?? false,
    assertHonest({ code, stdout, stderr }) {
      assert.deepEqual([code, stdout], [1, ''], args)
      assert.match(stderr, /^error: [^\n]+\n$/)
    },
    ...rest,
  }
}
