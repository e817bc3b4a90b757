import { type ChildProcess, spawn } from 'node:child_process'

/** The processes that this run has started. None outlives the run. */
export interface Children {
  start(command: string, args: readonly string[], environment?: NodeJS.ProcessEnv): ChildProcess
  /**
   * Runs a command to its end and returns what it printed. Throws if it fails or takes longer than
   * `seconds`.
   */
  run(
    command: string,
    args: readonly string[],
    seconds: number,
    environment?: NodeJS.ProcessEnv,
  ): Promise<string>
  /** Kills every process that still runs. */
  endAll(): void
}

export function createChildren(): Children {
  const running = new Set<ChildProcess>()

  function start(command: string, args: readonly string[], environment = process.env) {
    const child = spawn(command, args, { env: environment, stdio: ['ignore', 'pipe', 'inherit'] })
    running.add(child)
    child.once('close', () => running.delete(child))
    return child
  }

  return {
    start,

    run(command, args, seconds, environment) {
      const child = start(command, args, environment)
      const timer = setTimeout(() => child.kill('SIGKILL'), seconds * 1000)
      let printed = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        printed += text
      })
      return new Promise((resolve, reject) => {
        child.once('error', reject)
        child.once('close', (code, signal) => {
          clearTimeout(timer)
          if (code === 0) resolve(printed)
          else reject(new Error(`${command} ended with ${signal ?? code}:\n${printed}`))
        })
      })
    },

    endAll() {
      for (const child of running) child.kill('SIGKILL')
    },
  }
}
