import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Returned, Sent } from './other-process-main.ts'
import type { Operator } from './scene.ts'

const PROGRAM = fileURLToPath(new URL('./other-process-main.ts', import.meta.url))

/** A process beside the services that works on their database, as an operator does, or an intruder. */
export interface OtherProcess extends Operator {
  execute(sql: string): Promise<void>
  close(): void
}

export async function startOtherProcess(url: string): Promise<OtherProcess> {
  const child = fork(PROGRAM, [url], { serialization: 'advanced' })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let sent = 0
  child.on('message', ({ id, value, error }: Returned) => {
    const settled = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) settled?.resolve(value)
    else settled?.reject(new Error(error))
  })
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error('the process beside the services did not start')
    }),
  ])

  function forward(method: Sent['method']) {
    return async (...args: unknown[]): Promise<never> => {
      sent += 1
      const settled = Promise.withResolvers<unknown>()
      waiting.set(sent, settled)
      child.send({ id: sent, method, args } satisfies Sent)
      return (await settled.promise) as never
    }
  }

  return {
    insertUser: forward('insertUser'),
    insertApiKey: forward('insertApiKey'),
    listApiKeys: forward('listApiKeys'),
    revokeApiKey: forward('revokeApiKey'),
    saveServers: forward('saveServers'),
    ensureOrganization: forward('ensureOrganization'),
    execute: forward('execute'),
    close: () => child.kill('SIGKILL'),
  }
}
