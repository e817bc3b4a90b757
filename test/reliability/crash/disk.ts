import type { Random } from '../../fixtures/random.ts'
import type { Event } from './trace.ts'

/**
 * What a power failure does to changes that are not synchronized: all of them are lost, or some.
 */
export type Loss = 'all' | 'some'

/** The files of a folder after a power failure. */
export type Disk = Map<string, Buffer>

/** The bytes that a disk writes completely or not at all. */
const SECTOR = 512

type Change = Extract<Event, { event: 'write' | 'truncate' }>

interface File {
  /** Content that is certainly on the disk, with this number of changes. */
  kept: Content
  keptChanges: number
  /** Later changes, in order. */
  since: Change[]
}

/** A buffer that grows in place, because copies of it for a thousand changes would be slow. */
interface Content {
  room: Buffer
  size: number
}

/**
 * The files after a power failure that follows these events. A synchronized file has all changes
 * from before the call. A journaling file system creates and removes files in order: synchronizing
 * any file keeps all those from before the end of the call.
 */
export function afterPowerLoss(events: readonly Event[], loss: Loss, random: Random): Disk {
  const files = new Map<string, File>()
  const removed: [string, File][] = []
  const made: string[] = []
  for (const event of events) {
    switch (event.event) {
      case 'create':
        files.set(event.file, {
          kept: { room: Buffer.alloc(4_096), size: 0 },
          keptChanges: 0,
          since: [],
        })
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
        if (file === undefined) break
        const count = Math.max(0, event.changes - file.keptChanges)
        for (const change of file.since.splice(0, count)) apply(file.kept, change)
        file.keptChanges += count
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

/** Applies a random part of the change's sectors. */
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
  // Bytes that were cut off do not return.
  content.room.fill(0, size, content.size)
  content.size = size
}
