import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { addAdaWithKey } from '../../cli/ada.ts'
import { programIn } from '../../cli/program.ts'

/** V8 has optimized the path of a request after some hundred requests. */
const REQUESTS = 3_000

test('the answers stay whole while V8 optimizes a program that it has just compiled', async (t) => {
  const program = programIn(t)
  const { key } = await addAdaWithKey(program)
  // Code from a cache is optimized at other moments.
  const cache = join(program.folder, 'compiled')
  const { port } = await program.serve({ env: { NODE_COMPILE_CACHE: cache } })
  const socket = connect(port, '127.0.0.1').setEncoding('latin1').setNoDelay()
  t.after(() => socket.destroy())
  const bodies = new Set<string>()
  for (let sent = 0; sent < REQUESTS; sent += 1) {
    socket.write(`GET /v1/servers HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`)
    bodies.add(await readAnswer(socket))
  }
  const limited = '{"error":"Rate limit exceeded","limit":"1 rps"}'
  assert.deepEqual([...bodies].toSorted(), [limited, '{"servers":[]}'])
})

/** The body of the next answer, whose head must have each line in full. */
function readAnswer(socket: Socket): Promise<string> {
  let text = ''
  return new Promise((resolve, reject) => {
    function onData(piece: string): void {
      text += piece
      const end = text.indexOf('\r\n\r\n')
      if (end === -1) return
      const length = /\r\nContent-Length: (\d+)\r\nDate: [^\r\n]{29}\r\n/.exec(text)?.[1]
      if (length !== undefined && text.length < end + 4 + Number(length)) return
      socket.off('data', onData)
      if (length === undefined) reject(new Error(`a line of the head is not whole: ${text}`))
      else resolve(text.slice(end + 4))
    }
    socket.on('data', onData)
  })
}
