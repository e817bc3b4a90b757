import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { judgeAnswer } from '../form.ts'
import { isAfter } from '../interval.ts'
import { isTransient, type Kit, listWithKey } from '../kit.ts'
import { type Exchange, now } from '../wire/connection.ts'
import { REQUESTS_PER_SECOND } from '../pace.ts'
import type { Opened } from '../sender.ts'
import type { Check } from './check.ts'

/** Requests at the end of the revocation, in pairs on connections that were open before. */
const PAIRS_MAX = 8
/** How long requests go on after the revocation, and the pause between two of them. */
const AFTER_MS = 2_000
const PAUSE_MS = 200

/** The operator's command has failed, so that nothing is known about the revocation. */
export class RevokeCommandFailed extends Error {
  override name = 'RevokeCommandFailed'
}

/** What must hold once the command that revokes the key of `--key-file` has returned (spec 5.3). */
export function revocationBy(command: string): Check {
  return {
    name: 'the revocation',
    requests: (burst) => 1 + 2 * pairsOf(burst) + AFTER_MS / PAUSE_MS,
    grants: 1,
    needsGrants: true,
    async run(kit) {
      const connections = await openAll(kit)
      await kit.free(kit.key)
      judgeAnswer(kit.judge, 'list-answer', await kit.claim(kit.key), 200)
      const t0 = now()
      const isDone = execute(command)
      await useUntil(kit, isDone)
      const revocation = { t0, t1: now() }
      for (const exchange of await sendAfter(kit, connections))
        if (isAfter(exchange, revocation) && !isTransient(kit.judge, [exchange]))
          judgeAnswer(kit.judge, 'revoked', exchange, 401)
      for (const connection of connections) if ('close' in connection) connection.close()
    },
  }
}

function pairsOf(burst: number): number {
  return Math.min(PAIRS_MAX, burst / 2)
}

/** Connections that are idle while the command runs. */
async function openAll(kit: Kit): Promise<Opened[]> {
  const connections: Opened[] = []
  for (let pair = 0; pair < pairsOf(kit.burst); pair += 1) connections.push(await kit.open())
  return connections
}

async function execute(command: string): Promise<void> {
  const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'ignore', 'pipe'] })
  const [[code, signal], errors] = await Promise.all([
    once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
    text(child.stderr),
  ])
  if (code === 0) return
  const [line = ''] = errors.trim().split('\n')
  throw new RevokeCommandFailed(`it ended with ${code ?? signal}${line && `: ${line}`}`)
}

/**
 * Uses the key while the command runs, so that a service that caches keys has a fresh entry. A host
 * with a pace gets none, because they would hold back the requests that follow.
 */
async function useUntil(kit: Kit, isDone: Promise<void>): Promise<void> {
  if (kit.burst <= REQUESTS_PER_SECOND) return isDone
  const over = new AbortController()
  const ended = isDone.finally(() => over.abort())
  // A command that fails at once must not end the process while a request is under way.
  ended.catch(() => {})
  while (!over.signal.aborted) {
    await kit.claim(kit.key)
    await Promise.race([delay(PAUSE_MS), ended])
  }
  await ended
}

/** Two requests in one piece on each connection, all at once; then single ones for a while. */
async function sendAfter(kit: Kit, connections: readonly Opened[]): Promise<Exchange[]> {
  const request = listWithKey(kit.key, { isKept: true })
  const pairs = await Promise.all(
    connections.map((connection) => kit.sendInPiece([request, request], connection)),
  )
  const exchanges = pairs.flat()
  for (let sent = 0; sent < AFTER_MS / PAUSE_MS; sent += 1) {
    exchanges.push(await kit.send(listWithKey(kit.key)))
    await delay(PAUSE_MS)
  }
  return exchanges
}
