import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { ROOT } from '../../fixtures/tree.ts'

const HOLD = `
  import { once } from 'node:events'
  import { openServingSqliteStore } from ${JSON.stringify(join(ROOT, 'src/sqlite/serving-store.ts'))}
  process.send('loaded')
  await once(process, 'message')
  try {
    await openServingSqliteStore(process.argv[1])
    process.send('serving')
    setInterval(() => {}, 1_000)
  } catch (error) {
    process.send(error.message)
    process.exit(1)
  }`

/** Starts a process that opens the store at the next message. */
export async function load(path: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', HOLD, path], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  await once(child, 'message')
  return child
}

/** Resolves to 'serving' or to the message of the refusal. */
export async function hold(child: ChildProcess): Promise<string> {
  child.send('open')
  const [message] = await once(child, 'message')
  return message
}
