import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { startCaddy } from '../reliability/system/front/caddy.ts'
import {
  CERTIFICATE,
  type StartFront,
  startHaproxy,
  startNginx,
} from '../reliability/system/front/fronts.ts'
import { assertConforms, deploy, differencesIn, judge } from './deployment.ts'

/*
 * The proxies with the configurations of deploy/ take nothing from the conformance of the service.
 */

const MONITORS = 'HEAD of `/health` and `/` gets 404'
const OWN_PAGES = 'bytes that are no valid request get an answer in the form of section 7.1'

/** Each proxy, and the choices of this project that it changes (docs/proxies.md). */
const FRONTS: Record<string, [start: StartFront, changed: string[]]> = {
  nginx: [startNginx, [MONITORS, 'two Authorization lines get 401']],
  HAProxy: [startHaproxy, [MONITORS, OWN_PAGES]],
  Caddy: [startCaddy, [MONITORS, OWN_PAGES]],
}

suite('proxies', { concurrency: true }, () => {
  for (const [name, [startFront, changed]] of Object.entries(FRONTS))
    test(`the service behind ${name} has no finding`, async (t) => {
      const { program, port, keys, options } = await deploy(t)
      const front = await startFront(t, port)
      const env = { NODE_EXTRA_CA_CERTS: CERTIFICATE }
      const url = `https://localhost:${front.port}`
      const ended = await judge(program, ['conform', url, ...options], env)
      assertConforms(ended, keys)
      assert.deepEqual(differencesIn(ended), changed)
    })
})
