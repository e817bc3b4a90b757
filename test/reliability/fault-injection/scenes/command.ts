import assert from 'node:assert/strict'
import type { Ended } from '../../../cli/command.ts'
import { type CommandLine, runLine } from '../../../records/commands.ts'
import type { Input } from '../../../records/transcript.ts'
import { isWithoutAccess } from '../shape.ts'
import type { Operation } from '../sweep.ts'

type Exceptions = Partial<Operation<Ended>>

/** What is special about some commands. */
const EXCEPTIONS: [words: RegExp, exceptions: Exceptions][] = [
  [/^(apply|restore|migrate)\b|^server import .*--organization/, { isInParts: true }],
  [/^apply /, { assertHonest: assertPlanned }],
  [/^user remove /, { isInParts: true, isBetween: isWithoutAccess }],
  // A database that can't record a good backup costs a warning only.
  [/^backup /, { following: ['last_backup', 'audit_log'] }],
  [/^restore /, { assertHonest: assertRestored }],
  [/^doctor/, { isDone: isWithoutProblem, assertHonest: assertProblems }],
]

/** What the command answers without faults, and when it runs once more. */
interface Undisturbed {
  first: Ended
  again: Ended
}

/**
 * A successful input of a transcript. If the command fails, it must say so in one sentence. The
 * record says whether a repetition adds a second row.
 */
export function operationOf(
  { text, record }: Input,
  line: CommandLine,
  { first, again }: Undisturbed,
): Operation<Ended> {
  const found = EXCEPTIONS.filter(([words]) => words.test(withoutVariables(text)))
  return {
    name: text,
    run: () => runLine(line),
    isDone: ({ code }) => code === 0,
    isRepetition: ({ code, stderr }) => code === again.code && stderr === again.stderr,
    isTwiceIfRepeated: record.some((row) => /^ {2}again: (?!audit_log)\w+ \+ /.test(row)),
    assertHonest({ code, stdout, stderr }) {
      assert.deepEqual([code, stdout], [1, ''], text)
      assert.match(stderr, /^error: [^\n]+\n$/)
    },
    ...(/^server list\b/.test(text) ? printedInParts(first.stdout) : {}),
    ...Object.assign({}, ...found.map(([, exceptions]) => exceptions)),
  }
}

/** The words of the command, without the environment. */
export function withoutVariables(text: string): string {
  return text.replace(/^(?:[A-Z_]+=\S* )+/, '')
}

/** The servers of the tests run without fsync, which is a problem at any time. */
const NEW_PROBLEM = /^problem {2}(?!durability)/m

function isWithoutProblem({ stdout }: Ended): boolean {
  return stdout !== '' && !NEW_PROBLEM.test(stdout)
}

/** The doctor prints what it could not see as a problem. */
function assertProblems({ code, stdout, stderr }: Ended): void {
  assert.equal(code, 1)
  assert.match(stdout, NEW_PROBLEM)
  assert.match(stderr, /^error: the doctor found \d+ problems?\n$/)
}

/** The plan comes first. */
function assertPlanned({ code, stderr }: Ended): void {
  assert.equal(code, 1)
  assert.match(stderr, /^error: [^\n]+\n$/m)
}

/** After its commit, it says what it did before it says what failed. */
function assertRestored({ code, stdout, stderr }: Ended): void {
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /^(restored [^\n]+\ndatabase: [^\n]+\n)?error: [^\n]+\n$/)
}

/**
 * A list that the command prints while it reads. If it fails, it has printed the beginning. The
 * reader sees that from the exit code, and in JSON from the missing end.
 */
function printedInParts(list: string): Exceptions {
  return {
    isDone: ({ code, stdout }) => code === 0 && stdout === list,
    assertHonest({ code, stdout, stderr }) {
      assert.equal(code, 1)
      assert.match(stderr, /^error: [^\n]+\n$/)
      assert.ok(list.startsWith(stdout), stdout)
      if (list.startsWith('[')) assert.throws(() => JSON.parse(stdout), SyntaxError)
    },
  }
}
