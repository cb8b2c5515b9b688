from dataclasses import dataclass, field
