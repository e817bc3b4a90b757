/** What becomes of organizations whose only owner is removed: their oldest member owns them. */
export const HAND_OVER = `
  UPDATE members SET role = 'owner'
  WHERE organization_id IN (SELECT organization_id FROM members WHERE user_id = $1 AND role = 'owner')
    AND NOT EXISTS (
      SELECT 1 FROM members AS other
      WHERE other.organization_id = members.organization_id AND other.user_id <> $1 AND other.role = 'owner'
    )
    AND user_id = (
      SELECT user_id FROM members AS heir
      WHERE heir.organization_id = members.organization_id AND heir.user_id <> $1
      ORDER BY joined_at, user_id LIMIT 1
    )
`

/** Organizations with no member but the one who is removed. */
export const ALONE = `
  SELECT organization_id FROM members WHERE user_id = $1 AND NOT EXISTS (
    SELECT 1 FROM members AS other
    WHERE other.organization_id = members.organization_id AND other.user_id <> $1
  )
`
