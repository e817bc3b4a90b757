import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Children } from './children.ts'

/** What a driver saw in one run. */
export interface Seen {
  seconds: number
  /** Answers with 200. */
  ok: number
  /** Answers with another status. */
  other: number
}

/** Asks as fast as the answers come, over so many connections, with the keys from number `from` on in turn. */
export interface Driver {
  name: string
  run(port: number, seconds: number, from: number): Promise<Seen>
}

export const CONNECTIONS = 64

/** wrk where it is installed, autocannon where it is not. */
export async function chooseDriver(
  children: Children,
  folder: string,
  keysPath: string,
  keys: readonly string[],
  connections = CONNECTIONS,
): Promise<Driver> {
  try {
    // It prints its version and ends with 1, which is not to be confused with a program that is not there.
    await children.run('wrk', ['--version'], 5)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      return autocannonDriver(keys, connections)
  }
  return wrkDriver(children, folder, keysPath, connections)
}

function wrkDriver(
  children: Children,
  folder: string,
  keysPath: string,
  connections: number,
): Driver {
  const scriptPath = join(folder, 'walk.lua')
  writeFileSync(scriptPath, WALK)
  return {
    name: `wrk, 1 thread, ${connections} connections`,
    async run(port, seconds, from) {
      const options = [
        '-t',
        '1',
        '-c',
        String(connections),
        '-d',
        `${seconds}s`,
        '--timeout',
        '10s',
        '-s',
        scriptPath,
      ]
      const url = `http://127.0.0.1:${port}/v1/servers`
      const rest = ['--', keysPath, String(from)]
      const printed = await children.run('wrk', [...options, url, ...rest], seconds + 30)
      const summary = /^SEEN (\d+) (\d+) (\d+) (\d+)$/m.exec(printed)
      if (summary === null) throw new Error(`wrk printed no summary:\n${printed}`)
      const [microseconds, answers, other, failed] = summary.slice(1).map(Number) as Numbers
      if (failed > 0) throw new Error(`${failed} requests had no answer:\n${printed}`)
      return { seconds: microseconds / 1e6, ok: answers - other, other }
    },
  }
}

type Numbers = [number, number, number, number]

/** wrk counts statuses from 400 on itself; besides 200 the servers under test send no lower one. */
const WALK = `
local texts = {}
local position

function init(args)
  position = tonumber(args[2])
  for key in io.lines(args[1]) do
    texts[#texts + 1] = 'GET /v1/servers HTTP/1.1\\r\\nHost: ' .. wrk.headers['Host'] ..
      '\\r\\nAuthorization: Bearer ' .. key .. '\\r\\n\\r\\n'
  end
end

function request()
  position = position % #texts + 1
  return texts[position]
end

function done(summary)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format('SEEN %d %d %d %d\\n', summary.duration, summary.requests, errors.status, failed))
end
`

function autocannonDriver(keys: readonly string[], connections: number): Driver {
  return {
    name: `autocannon, ${connections} connections (wrk is not installed)`,
    async run(port, seconds, from) {
      const { default: autocannon } = await import('autocannon')
      let position = from
      const result = await autocannon({
        url: `http://127.0.0.1:${port}/v1/servers`,
        connections,
        duration: seconds,
        requests: [
          {
            setupRequest(request) {
              position = (position + 1) % keys.length
              const headers = { ...request.headers, Authorization: `Bearer ${keys[position]}` }
              return { ...request, headers }
            },
          },
        ],
      })
      if (result.errors > 0) throw new Error(`${result.errors} requests had no answer`)
      return { seconds: result.duration, ok: result['2xx'], other: result.non2xx }
    },
  }
}
