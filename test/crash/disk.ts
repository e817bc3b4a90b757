import type { Random } from '../history/random.ts'
import type { Event } from './trace.ts'

/** What becomes, when the power fails, of what no file was synchronized after: nothing of it is there, or a part. */
export type Loss = 'all' | 'some'

/** The files of a folder as a disk has them after a loss of power. */
export type Disk = Map<string, Buffer>

/** What a disk writes in one piece, or not at all. */
const SECTOR = 512

type Change = Extract<Event, { event: 'write' | 'truncate' }>

interface File {
  /** What is certainly on the disk. */
  kept: Content
  /** What was done since then, in order. */
  since: Change[]
}

/** Bytes that grow in place: a copy for each of a thousand changes would be most of the work. */
interface Content {
  room: Buffer
  size: number
}

/**
 * The state that the power's failure after these events leaves behind. What was done to a file before it was last
 * synchronized is there. Files are made and removed in order, as a file system with a journal has it: all that was done
 * before any synchronizing is there.
 */
export function afterPowerLoss(events: readonly Event[], loss: Loss, random: Random): Disk {
  const files = new Map<string, File>()
  const removed: [string, File][] = []
  const made: string[] = []
  for (const event of events) {
    switch (event.event) {
      case 'create':
        files.set(event.file, { kept: { room: Buffer.alloc(4_096), size: 0 }, since: [] })
        made.push(event.file)
        break
      case 'unlink':
        removed.push([event.file, files.get(event.file)!])
        files.delete(event.file)
        break
      case 'write':
      case 'truncate':
        files.get(event.file)?.since.push(event)
        break
      case 'sync': {
        removed.length = 0
        made.length = 0
        const file = files.get(event.file)
        for (const change of file?.since.splice(0) ?? []) apply(file!.kept, change)
      }
    }
  }
  const isKept = () => loss === 'some' && random.chance(0.5)
  for (const name of made) if (!isKept()) files.delete(name)
  for (const [name, file] of removed) if (!files.has(name) && !isKept()) files.set(name, file)
  if (loss === 'some')
    for (const { kept, since } of files.values())
      for (const change of since) applySome(kept, change, random)
  return new Map(
    [...files].map(
      ([
        name,
        {
          kept: { room, size },
        },
      ]) => [name, room.subarray(0, size)],
    ),
  )
}

function apply(content: Content, change: Change): void {
  if (change.event === 'truncate') {
    resize(content, change.size)
    return
  }
  resize(content, Math.max(content.size, change.offset + change.bytes.length))
  change.bytes.copy(content.room, change.offset)
}

/** Of a change the sectors that chance has written before the end. */
function applySome(content: Content, change: Change, random: Random): void {
  if (change.event === 'truncate') {
    if (random.chance(0.5)) apply(content, change)
    return
  }
  for (let from = 0; from < change.bytes.length; ) {
    const offset = change.offset + from
    const to = from + SECTOR - (offset % SECTOR)
    if (random.chance(0.5))
      apply(content, { ...change, offset, bytes: change.bytes.subarray(from, to) })
    from = to
  }
}

function resize(content: Content, size: number): void {
  if (size > content.room.length)
    content.room = Buffer.concat([content.room], Math.max(size, 2 * content.room.length))
  // What was cut off does not come back.
  content.room.fill(0, size, content.size)
  content.size = size
}
