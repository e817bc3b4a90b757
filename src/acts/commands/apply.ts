import type { Command } from 'commander'
import type { Shell } from '../../terminal/shell.ts'
import { presentInstant } from '../../model/instant.ts'
import { count } from '../../model/text.ts'
import { confirm, YES } from '../../terminal/confirm.ts'
import { changeStore, loadConfig, withStore } from '../../terminal/context.ts'
import { readInput } from '../../terminal/input.ts'
import { printJson, say } from '../../terminal/output.ts'
import { readDocument } from '../read-document.ts'
import { applyPlans } from './apply-plans.ts'
import { planFile } from './plan-file.ts'
import { keyFilesBeside, parseJson, refusal } from './read-file.ts'
import { countChanges, planJson, sayChanges, sayPlan } from './show-plan.ts'

export function addApplyCommand(program: Command, shell: Shell): void {
  program
    .command('apply')
    .description('make users, organizations, keys and servers as a state file declares them')
    .argument('<file>', 'the state file, JSON; - for standard input')
    .option('--dry-run', 'only print the plan')
    .option(...YES)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The command prints a plan first. On a terminal it asks. Elsewhere it needs --yes. A second run makes
no changes. It removes only what the file names, or what a list that it calls whole leaves out. A
revoked key stays revoked. docs/declared-state.md describes the file.

Examples:
  server-listing apply state.json --dry-run
  server-listing apply state.json --yes
  server-listing export | server-listing apply - --dry-run`,
    )
    .action((file, options) => applyFile(shell, file, options))
}

interface ApplyOptions {
  dryRun?: boolean
  yes?: boolean
  json?: boolean
}

/** `apply`: checks the file, prints the plan, asks and makes the changes. */
async function applyFile(shell: Shell, file: string, options: ApplyOptions): Promise<void> {
  const { dryRun = false } = options
  const now = presentInstant()
  const json = parseJson(await readInput(shell, file), file)
  const read = readDocument(json, 'operator', { now, readKeyFile: keyFilesBeside(file) })
  if ('complaints' in read) throw refusal(file, read.complaints)
  const run = dryRun ? withStore : changeStore
  await run(shell, async (store) => {
    const planned = await planFile(
      store.database,
      file,
      read.document,
      now,
      loadConfig(shell).operators,
    )
    const { plans } = planned
    sayPlan(shell, plans, store.place)
    const { added, changed, removed } = countChanges(plans)
    const isNeeded = added + changed + removed > 0
    if (isNeeded && !dryRun) {
      await confirm(
        shell,
        `add ${count(added)}, change ${count(changed)} and remove or revoke ${count(removed)} ` +
          `in ${store.place}`,
        options,
      )
      await applyPlans(shell, store, planned, 'state applied')
    }
    if (options.json) printJson(shell, planJson(plans, !dryRun))
    if (!isNeeded) say(shell, '0 changes')
    else if (dryRun) say(shell, 'nothing was changed')
    else say(shell, sayChanges(plans))
  })
}
