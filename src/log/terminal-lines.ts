import { stripVTControlCharacters, styleText } from 'node:util'

const COLORS: Record<string, 'blue' | 'green' | 'yellow' | 'red'> = {
  debug: 'blue',
  info: 'green',
  warn: 'yellow',
  error: 'red',
}

/**
 * A JSON line of the log as text for a terminal: `[12:34:56.789] INFO: closed`, and each other
 * field on its own line.
 */
export function terminalLines(json: string): string {
  const { level, time, msg, ...fields } = JSON.parse(json) as Record<string, string>
  const at = new Date(time!)
  const clock = `${at.toTimeString().slice(0, 8)}.${String(at.getMilliseconds()).padStart(3, '0')}`
  const label = paint(COLORS[level!] ?? 'blue', level!.toUpperCase())
  const rest = Object.entries(fields).map(([name, value]) => `    ${name}: ${printable(value)}\n`)
  return `[${clock}] ${label}: ${printable(msg!)}\n${rest.join('')}`
}

/** A message may quote text from outside, which must not move the cursor or color the terminal. */
function printable(value: unknown): string {
  return stripVTControlCharacters(String(value))
    .replace(/\n/g, '\n      ')
    .replace(/[^\P{Cc}\n]/gu, '')
}

function paint(color: 'blue' | 'green' | 'yellow' | 'red', text: string): string {
  return process.env.NO_COLOR ? text : styleText(color, text)
}
