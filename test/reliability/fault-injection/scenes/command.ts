import assert from 'node:assert/strict'
import { type Ended, runCommand } from '../../../cli/command.ts'
import type { Operation } from '../sweep.ts'

interface CommandOptions extends Partial<Omit<Operation<Ended>, 'name' | 'isRepetition'>> {
  stdin?: string
  /** What a repetition may answer if the first run succeeded. */
  repeated?: RegExp
}

/** A command that runs in this process. If it fails, it must say so in one sentence. */
export type CreateCommand = (args: string, options?: CommandOptions) => Operation<Ended>

/** Commands on the database with this URL. */
export function commandsOn(url: string): CreateCommand {
  // Another service of this machine must not take part.
  const env = { DATABASE_URL: url, OPS_PORT: '0' }
  return (args, { stdin = '', repeated, isInParts = false, ...rest } = {}) => ({
    name: args,
    audited: [],
    isInParts: isInParts || rest.isBetween !== undefined,
    run: () => runCommand(args, { env, stdin }),
    isDone: ({ code }) => code === 0,
    isRepetition: ({ stderr }) => repeated?.test(stderr) ?? false,
    assertHonest({ code, stdout, stderr }) {
      assert.deepEqual([code, stdout], [1, ''], args)
      assert.match(stderr, /^error: [^\n]+\n$/)
    },
    ...rest,
  })
}
