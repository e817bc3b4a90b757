import { type Finding, ok, warning } from '../../model/health/finding.ts'
import { NAMED_SETTINGS } from '../../config/settings.ts'

/** Shorter names, such as PORT, are too close to ordinary ones, such as SORT or PORTS. */
const LENGTH_MIN = 7

/** Variables that are probably misspelled settings. */
export function inspectVariables(
  environment: Readonly<Record<string, string | undefined>>,
): Finding {
  const settings = NAMED_SETTINGS.map(([name]) => name)
  const found = Object.keys(environment).flatMap((name) => {
    if (settings.some((setting) => setting === name)) return []
    const meant = settings.find((setting) => !environment[setting] && isTypo(name, setting))
    return meant === undefined ? [] : [{ name, meant }]
  })
  if (found.length === 0) return ok('environment', 'all variables have valid values')
  return warning(
    'environment',
    `no setting is called ${found.map(({ name }) => name).join(', ')}`,
    `did you mean ${found.map(({ meant }) => meant).join(', ')}?`,
  )
}

/** Two swapped letters, or in a long name one letter too many, too few or wrong. */
function isTypo(name: string, setting: string): boolean {
  const start = [...setting].findIndex((letter, index) => name[index] !== letter)
  if (start === -1) return name.length === setting.length + 1 && setting.length >= LENGTH_MIN
  const [rest, wanted] = [name.slice(start), setting.slice(start)]
  const isSwapped = rest === `${wanted[1] ?? ''}${wanted[0]}${wanted.slice(2)}`
  if (isSwapped && wanted.length > 1) return true
  if (setting.length < LENGTH_MIN) return false
  return rest.slice(1) === wanted || rest === wanted.slice(1) || rest.slice(1) === wanted.slice(1)
}
