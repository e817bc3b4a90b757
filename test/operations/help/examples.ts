import type { Scene } from './scene.ts'

/** The examples in the help of each command, by the words of the command. */
export function examplesOf(scene: Pick<Scene, 'helpOf'>, words = ''): Map<string, string[]> {
  const help = scene.helpOf(words)
  const [before = '', after = ''] = help.split(/^Examples?:\n/m)
  const lines = after.split('\n').filter((line) => /^ {2}.*server-listing /.test(line))
  const examples = new Map([[words, lines.map((line) => line.trim())]])
  const commands = before.split('Commands:\n')[1] ?? ''
  for (const [, name = ''] of commands.matchAll(/^ {2}([a-z]+)(?: |$)/gm)) {
    if (name === 'help') continue
    for (const [command, found] of examplesOf(scene, `${words} ${name}`.trim()))
      examples.set(command, found)
  }
  return examples
}
