-- Keep a fact in a record: the newest of its topic under `fact:`, those before it under `past:`.
-- `pasts:` lists these by their heads, the oldest first; `more:` counts those that had to go.
-- A head is a time in ms and an id; the same fact kept again changes nothing.
local PASTS_KEPT = 20

local function keep(run, topic, head, event)
  local field = 'fact:' .. topic
  local known = redis.call('HGET', run, field)
  if not known then redis.call('HSET', run, field, head .. '\n' .. event) return end
  local other = string.match(known, '^[^\n]*')
  if other == head then return end
  local function at(one) return tonumber(string.match(one, '^%d+')) end
  local older, body = head, event
  if at(head) >= at(other) then
    redis.call('HSET', run, field, head .. '\n' .. event)
    older, body = other, string.sub(known, #other + 2)
  end
  local index, heads = 'pasts:' .. topic, {}
  local place = 1
  for one in string.gmatch(redis.call('HGET', run, index) or '', '[^\n]+') do
    if one == older then return end
    heads[#heads + 1] = one
    if at(one) <= at(older) then place = #heads + 1 end
  end
  if #heads >= PASTS_KEPT then
    if place == 1 then return end
    redis.call('HDEL', run, 'past:' .. topic .. ' ' .. table.remove(heads, 1))
    redis.call('HINCRBY', run, 'more:' .. topic, 1)
    place = place - 1
  end
  table.insert(heads, place, older)
  redis.call('HSET', run, index, table.concat(heads, '\n'), 'past:' .. topic .. ' ' .. older, body)
end
