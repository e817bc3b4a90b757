import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDashboard, type TestDashboard } from '../../fixtures/dashboard.ts'

/*
 * What browsers, phones and search engines ask for by themselves.
 */

const PNG = [0x89, 0x50, 0x4e, 0x47]

test('browsers without SVG icons get a picture of 32 px, and phones one of 180 px', async (t) => {
  const { url } = await startDashboard(t)
  const load = async (path: string, type: string) => {
    const answer = await fetch(url + path)
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, type])
    return new Uint8Array(await answer.arrayBuffer())
  }
  const icon = await load('/favicon.ico', 'image/x-icon')
  assert.deepEqual([...icon.subarray(0, 8)], [0, 0, 1, 0, 1, 0, 32, 32])
  assert.deepEqual([...icon.subarray(22, 26)], PNG)
  const touch = await load('/apple-touch-icon.png', 'image/png')
  assert.deepEqual([...touch.subarray(0, 4)], PNG)
  const { buffer } = touch
  assert.deepEqual(
    [16, 20].map((at) => new DataView(buffer).getUint32(at)),
    [180, 180],
  )
})

test('search engines may show the documents and the public pages, and nothing else', async (t) => {
  const withPages = await startDashboard(t, { siteUrl: 'https://www.example.org' })
  const without = await startDashboard(t)
  assert.equal(await readRobots(without), 'User-agent: *\nAllow: /docs\nDisallow: /\n')
  assert.equal(
    await readRobots(withPages),
    'User-agent: *\nAllow: /docs\nAllow: /servers/\nDisallow: /\n',
  )
})

async function readRobots({ url }: TestDashboard): Promise<string> {
  return (await fetch(`${url}/robots.txt`)).text()
}
