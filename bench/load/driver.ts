import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cpuSecondsOf } from '../proc.ts'
import type { Keys, Scene } from '../scene.ts'
import type { Subject } from '../subject.ts'

/** The answers that a driver counted in one run. */
export interface Counted {
  seconds: number
  /** Answers with 200. */
  ok: number
  /** Answers with another status. */
  other: number
}

/** What the answers cost the server, as CPU time of all its threads. */
interface Cost {
  /** 200s per second of CPU time. */
  perCpuSecond: number
  /** Microseconds of CPU time for an answer of any status. */
  cpu: number
}

/** A load generator. Each connection sends its next request as soon as it has an answer. */
export interface Driver {
  name: string
  /** Uses the keys in turn, from where the last run ended. */
  run(subject: Subject, seconds: number): Promise<Counted & Cost>
}

type Load = (port: number, seconds: number, from: number) => Promise<Counted>

const CONNECTIONS = 64

/** wrk on these keys. */
export function openDriver(scene: Scene, keys: Keys, connections = CONNECTIONS): Driver {
  const load = wrk(scene, keys, connections)
  return {
    name: `wrk, ${connections} connections`,
    async run(subject, seconds) {
      const before = cpuSecondsOf(subject.pid)
      const counted = await load(subject.port, seconds, keys.next)
      const cpuSeconds = cpuSecondsOf(subject.pid) - before
      const answers = counted.ok + counted.other
      subject.answered += answers
      // When the driver stops, every connection has an unanswered request.
      keys.next = (keys.next + answers + connections) % keys.all.length
      return {
        ...counted,
        perCpuSecond: counted.ok / cpuSeconds,
        cpu: (cpuSeconds * 1e6) / answers,
      }
    },
  }
}

function wrk({ children, folder }: Scene, keys: Keys, connections: number): Load {
  const scriptPath = join(folder, 'walk.lua')
  writeFileSync(scriptPath, WALK)
  return async (port, seconds, from) => {
    const url = `http://127.0.0.1:${port}/v1/servers`
    const options = `-t 1 -c ${connections} -d ${seconds}s --timeout 10s -s`.split(' ')
    const args = [...options, scriptPath, url, '--', keys.path, String(from)]
    const printed = await children.run('wrk', args, seconds + 30)
    const summary = /^SEEN (\d+) (\d+) (\d+) (\d+)$/m.exec(printed)
    if (summary === null) throw new Error(`wrk printed no summary:\n${printed}`)
    const [microseconds = 0, answers = 0, other = 0, failed = 0] = summary.slice(1).map(Number)
    if (failed > 0) throw new Error(`${failed} requests had no answer:\n${printed}`)
    return { seconds: microseconds / 1e6, ok: answers - other, other }
  }
}

/** wrk itself counts statuses from 400 on. Below 400 the servers under test send only 200. */
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
