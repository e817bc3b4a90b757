/** How a process runs the program. */
export interface ProcessOptions {
  /** The source of a module that runs in the process before the program. */
  preload?: string
  /** The limit of open files of the process. */
  openFilesMax?: number
  /** Runs the command on a terminal: `stdin` is typed, and `stdout` is what the terminal shows. */
  onTerminal?: boolean
}

/** Prints the modules of Node.js that are loaded when the process exits. */
export const PRINT_LOADED = `process.on('exit', () => console.error(process.moduleLoadList.join(' ')))`

/** The command line that runs the program in `bin`, with the `--` of its first line. */
export function commandLine(
  bin: string,
  args: readonly string[],
  options: ProcessOptions,
): string[] {
  const { preload } = options
  const before =
    preload === undefined ? [] : ['--import', `data:text/javascript,${encodeURIComponent(preload)}`]
  const command = [...limit(options), process.execPath, ...before, '--', bin, ...args]
  return options.onTerminal ? onTerminal(command) : command
}

/** `script` gives the command a terminal of its own. */
function onTerminal(command: readonly string[]): string[] {
  const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
  return ['script', '--quiet', '--return', '--command', quoted.join(' '), '/dev/null']
}

/** A prefix that limits the open files of a command. */
function limit({ openFilesMax }: ProcessOptions): string[] {
  if (openFilesMax === undefined) return []
  return ['/bin/sh', '-c', `ulimit -n ${openFilesMax} && exec "$@"`, 'sh']
}
