-- How Portico's objects are doing, for Argo CD. It holds for every kind of portico.dev: all have the same conditions.
local health = {status = "Progressing", message = "Requested; waiting for Portico to start."}
local conditions = {}
if obj.status ~= nil and obj.status.conditions ~= nil then
  for _, condition in ipairs(obj.status.conditions) do
    conditions[condition.type] = condition
  end
end
local function is(name)
  return conditions[name] ~= nil and conditions[name].status == "True"
end
local function say(status, condition)
  health.status = status
  if condition ~= nil and condition.message ~= nil then
    health.message = condition.message
  end
  return health
end

local annotations = obj.metadata.annotations
local observed = obj.status ~= nil and obj.status.observedGeneration or -1

if obj.metadata.deletionTimestamp ~= nil then
  health.message = "Being deleted."
  if is("Stalled") then
    return say("Degraded", conditions["Stalled"])
  end
  return say("Progressing", conditions["Ready"])
end
if is("Paused") or (annotations ~= nil and annotations["portico.dev/paused"] == "true") then
  health.message = "Paused; Portico leaves it alone until it is resumed."
  return say("Suspended")
end
if observed < 0 then
  return health
end
if observed < obj.metadata.generation then
  health.message = "Change not applied yet."
  return health
end
if is("Stalled") then
  return say("Degraded", conditions["Stalled"])
end
if is("Ready") then
  return say("Healthy", conditions["Ready"])
end
local ready = conditions["Ready"]
if ready ~= nil and (ready.reason == "Failed" or ready.reason == "TimedOut") then
  return say("Degraded", ready) -- it is tried again
end
return say("Progressing", ready)
