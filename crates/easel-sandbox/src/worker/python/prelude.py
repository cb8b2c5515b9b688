class LoopIteration:
    def __init__(self, members):
        for name, value in members.items():
            setattr(self, name, value)

class _EaselMembers:
    pass

def _easel_members(value):
    if isinstance(value, dict):
        members = _EaselMembers()
        for name, member in value.items():
            setattr(members, name, _easel_members(member))
        return members
    if isinstance(value, list):
        return [_easel_members(item) for item in value]
    return value
