import { say } from './terminal/output.ts'
import { run } from './cli/run.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A command with a listener of its own needs its whole output read, and fails.
  if (process.stdout.listenerCount('error') > 1) return
  // A reader such as `head` closes the pipe early, which is not a failure.
  if (error.code === 'EPIPE') process.exit(0)
  say(process, `error: cannot write to standard output: ${error.code ?? error.message}`)
  process.exit(1)
})
// No channel remains to report this on.
process.stderr.on('error', () => {})

// No top-level await: in the bundle, a command's chunk imports from this one and would wait for it.
void run(process.argv.slice(2), process).then((code) => {
  process.exitCode = code
})
