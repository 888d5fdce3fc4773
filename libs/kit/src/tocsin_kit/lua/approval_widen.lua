-- Let more people decide an approval that waits.
-- KEYS: approval
-- ARGV: who may decide too
-- Returns the state it is in ('' for an unknown approval)
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return '' end
if state ~= 'pending' then return state end
local known = redis.call('HGET', KEYS[1], 'approvers') or '\n\n'
for _, who in ipairs(ARGV) do
  if not string.find(known, '\n' .. who .. '\n', 1, true) then known = known .. who .. '\n' end
end
redis.call('HSET', KEYS[1], 'approvers', known)
return state
