import { run } from './cli/run.ts'

// No top-level await: in the bundle, a command's chunk imports from this one and would wait for it.
void run(process.argv.slice(2)).then((code) => {
  process.exitCode = code
})
