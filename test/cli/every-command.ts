import { runCommand } from './command.ts'

/** Every command that the program's own help names, groups such as `user` included. */
export async function everyCommand(group = ''): Promise<string[]> {
  const { stdout } = await runCommand(`${group} --help`)
  const [, list = ''] = stdout.split('\nCommands:\n')
  const commands = []
  for (const [, name] of list.split('\n\n')[0]!.matchAll(/^ {2}([a-z]+)/gm)) {
    if (name === 'help') continue
    const command = `${group} ${name}`.trim()
    commands.push(command, ...(await everyCommand(command)))
  }
  return commands
}
