import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createToken, hashToken } from '../../src/accounts/token.ts'
import { createManagement } from '../../src/management/answer.ts'
import { openTokens } from '../../src/management/tokens.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { answerTo } from '../fixtures/requests.ts'
import { tellAnswer } from './answer.ts'
import type { Carrier } from './carriers.ts'
import type { Json } from './document.ts'
import { OPERATORS } from './scene.ts'
import type { Stage } from './stage.ts'

const onFault = (fault: unknown): string => String(fault)

/** `POST /v1/acts` with a token. Each document is asked first what it would do. */
export async function httpOn(t: TestContext, stage: Stage): Promise<Carrier> {
  const token = createToken()
  const file = join(temporaryFolder(t), 'tokens')
  writeFileSync(file, `site ${hashToken(token)}\n`)
  const tokens = openTokens(file, onFault)
  // The stage may have opened its store anew.
  const server = createServer((incoming, outgoing) =>
    createManagement({
      database: stage.database(),
      operators: OPERATORS,
      dashboardUrl: 'https://listing.example.com',
      passwords: true,
      tokens,
      now: presentInstant,
      onFault,
    })(incoming, outgoing),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const post = async (path: string, document: Json): Promise<Json> => {
    const sent = request({ host: '127.0.0.1', port, method: 'POST', path, headers, agent: false })
    const { status, body } = await answerTo(sent, JSON.stringify(document))
    const answer = JSON.parse(body) as Json
    assert.equal(status, 'error' in answer ? 400 : 200, body)
    return answer
  }
  return {
    name: 'http',
    hand: 'site',
    address: 'token site',
    takes: (document) => !('all_users' in document || 'all_servers' in document),
    async send(document) {
      const wouldAnswer = await post('/v1/acts?dry-run', document)
      const answer = await post('/v1/acts', document)
      assert.deepEqual(wouldAnswer, answer)
      if ('error' in answer) return [`! ${String(answer.error)}`]
      return tellAnswer(answer as never, document)
    },
  }
}
