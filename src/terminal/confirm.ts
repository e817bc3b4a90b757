import { Failure, Misuse } from './errors.ts'
import { say } from './output.ts'
import type { Shell } from './shell.ts'

/**
 * Resolves if the operator agrees to a change that can't be undone. `change` completes "this
 * would". On a terminal, the operator types yes. Elsewhere the command line must have `--yes`.
 */
export async function confirm(
  shell: Shell,
  change: string,
  { yes = false }: { yes?: boolean },
): Promise<void> {
  if (yes) return
  if (!shell.stdin.isTTY || !shell.stderr.isTTY)
    throw new Misuse(`nothing was changed: this would ${change}. Add --yes if you want that`)
  say(shell, `This would ${change}.`)
  // Loaded on demand: few commands ask.
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: shell.stdin, output: shell.stderr, terminal: false })
  // Ctrl-D ends the input without an answer or a line end.
  const ended = new Promise<string>((resolve) =>
    lines.once('close', () => {
      shell.stderr.write('\n')
      resolve('')
    }),
  )
  const answer = await Promise.race([lines.question('Type yes to do it: '), ended])
  lines.removeAllListeners('close').close()
  if (answer.trim().toLowerCase() !== 'yes') throw new Failure('nothing was changed')
}

/** `--yes`, for commands that call `confirm`. */
export const YES = ['--yes', 'do it without asking'] as const
