import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Answer } from './answer.ts'

/*
 * What node:http costs by itself: one answer, ready in memory, to whatever is asked. A program of its own, started
 * with the name of the file that has the answer.
 */

const answer = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Answer

const server = createServer({ keepAliveTimeout: answer.keepAliveMs }, (_request, response) => {
  response.writeHead(answer.status, answer.headers)
  response.end(answer.body, 'latin1')
})
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
