import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Returned, Sent } from './other-process-main.ts'
import type { Operator } from './scene.ts'

const PROGRAM = fileURLToPath(new URL('./other-process-main.ts', import.meta.url))

/** A process beside the services that works on their database, as an operator or as an intruder. */
export interface OtherProcess extends Operator {
  execute(sql: string): Promise<void>
  /** Kills it, and resolves when it has ended. */
  close(): Promise<void>
}

export async function startOtherProcess(url: string): Promise<OtherProcess> {
  // It gets streams of its own. A reader of this process's streams would wait for the end of that
  // one too.
  const child = fork(PROGRAM, [url], { serialization: 'advanced', silent: true })
  let stderr = ''
  child.stdout!.resume()
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let sent = 0
  child.on('message', ({ id, value, error }: Returned) => {
    const settled = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) settled?.resolve(value)
    else settled?.reject(new Error(error))
  })
  let ended: Error | null = null
  child.on('exit', () => {
    ended = new Error(`the process beside the services has ended: ${stderr}`)
    for (const settled of waiting.values()) settled.reject(ended)
    waiting.clear()
  })
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error(`the process beside the services did not start: ${stderr}`)
    }),
  ])

  function forward(method: Sent['method']) {
    return async (...args: unknown[]): Promise<never> => {
      if (ended !== null) throw ended
      sent += 1
      const settled = Promise.withResolvers<unknown>()
      waiting.set(sent, settled)
      // The channel closes shortly before the `exit` event.
      child.send({ id: sent, method, args } satisfies Sent, (error) => {
        if (error !== null) settled.reject(error)
      })
      return (await settled.promise) as never
    }
  }

  return {
    insertUser: forward('insertUser'),
    issueKey: forward('issueKey'),
    listApiKeys: forward('listApiKeys'),
    revokeApiKey: forward('revokeApiKey'),
    saveServers: forward('saveServers'),
    ensureOrganization: forward('ensureOrganization'),
    execute: forward('execute'),
    async close() {
      if (ended !== null) return
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
    },
  }
}
