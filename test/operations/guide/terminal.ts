import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Readable, Writable } from 'node:stream'

/** What a block of commands printed, on standard output and standard error. */
export interface Ran {
  output: string
  /** False if a command failed. The terminal is closed then. */
  isDone: boolean
}

/** A shell that keeps its variables and background jobs from block to block, as a terminal does. */
export interface Terminal {
  run(commands: string): Promise<Ran>
  /** Ends the shell and every process that it started. */
  close(): Promise<void>
}

export interface TerminalOptions {
  /** The folder in which the commands run. */
  folder: string
  /** A folder for the terminal's own files. */
  scratch: string
  env: Record<string, string>
  /** Another user, if the tests run as root. */
  user: { uid?: number; gid?: number }
  /** The root folder of another Debian, which contains both folders. */
  root?: string
}

/**
 * Opens a terminal that ends at the first failed command, also inside a pipe, and at the first
 * variable without a value.
 */
export function openTerminal(options: TerminalOptions): Terminal {
  const { scratch, env, root } = options
  const shell = spawn(root === undefined ? 'bash' : 'unshare', argumentsOf(options), {
    env,
    ...(root === undefined && { cwd: options.folder, ...options.user }),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
  })
  const ended = once(shell, 'exit')
  const stdin = shell.stdio[0] as Writable
  const done = shell.stdio[3] as Readable
  // A write after the end of the shell is reported by `run`.
  stdin.on('error', () => {})
  let count = 0
  return {
    async run(commands) {
      count += 1
      const [script, printed] = ['sh', 'out'].map((end) => join(scratch, `${count}.${end}`))
      writeFileSync(script!, commands)
      writeFileSync(printed!, '')
      chmodSync(printed!, 0o666)
      const [read, written] = [script!, printed!].map((path) => pathIn(root, path))
      stdin.write(`. "${read}" > "${written}" 2>&1 < /dev/null; echo >&3\n`)
      const isDone = await Promise.race([
        once(done, 'data').then(() => true),
        ended.then(() => false),
      ])
      return { output: readFileSync(printed!, 'utf8'), isDone }
    },

    async close() {
      try {
        process.kill(-shell.pid!, 'SIGKILL')
      } catch {
        // The shell and its jobs have ended.
      }
      await ended
    },
  }
}

/** In another root, the shell has namespaces of its own, so that its end unmounts and ends all. */
function argumentsOf({ folder, user, root }: TerminalOptions): string[] {
  const shell = ['--noprofile', '--norc', '-eu', '-o', 'pipefail']
  if (root === undefined) return shell
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
  const place = [`--root=${root}`, `--wd=${pathIn(root, folder)}`]
  const rights = [`--setuid=${user.uid ?? 0}`, `--setgid=${user.gid ?? 0}`]
  return [...namespaces, ...place, ...rights, 'bash', ...shell]
}

/** A path of this machine, as a process with that root sees it. */
export function pathIn(root: string | undefined, path: string): string {
  return root === undefined ? path : join('/', relative(root, path))
}
