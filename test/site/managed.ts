import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestContext } from 'node:test'
import { createToken, hashToken } from '../../src/accounts/token.ts'
import { programIn } from '../cli/program.ts'

/** A served SQLite file, with the management API and a token of a site in `site.token`. */
export async function serveManaged(t: TestContext) {
  const program = programIn(t)
  const { folder } = program
  const token = createToken()
  const [tokens, tokenFile] = [join(folder, 'tokens'), join(folder, 'site.token')]
  writeFileSync(tokens, `site ${hashToken(token)}\n`)
  writeFileSync(tokenFile, `${token}\n`)
  await program.done('migrate')
  const env = { MANAGEMENT_PORT: '0', MANAGEMENT_TOKENS_FILE: tokens }
  const served = await program.serve({ env })
  await served.written(/management API at http:\S+:\d+\D/)
  const [, url = ''] = /management API at (http:\S+:\d+)\D/.exec(served.stdout())!
  return {
    ...program,
    url,
    tokenFile,
    /** What the API answers a key, once its second is over. */
    async names(key: string): Promise<string[] | number> {
      await delay(1_000)
      const headers = { Authorization: `Bearer ${key}` }
      const answer = await fetch(`http://127.0.0.1:${served.port}/v1/servers`, { headers })
      const { servers } = (await answer.json()) as { servers?: { name: string }[] }
      return servers?.map(({ name }) => name) ?? answer.status
    },
  }
}

/** The answer to the document of the page, which puts a user and all servers of the user. */
export const answerOfPut = (added: number, changed = 0) => ({
  put_users: { added, changed, refused: [] },
  put_servers: { added, changed: 0, removed: 0, refused: [] },
})
