"""The hours of load: who has ended is started again, faults come, and everything is looked at."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from soak.capacity import Rates, n_logged, n_read
from soak.crowd import Crowd
from soak.databases import Place
from soak.faults import Scene, kinds_for, throw
from soak.fleet import Fleet
from soak.plan import PlannedFault, Soak, planned_faults
from soak.samples import Life, Observer

_TURN_S = 0.2


@dataclass(slots=True)
class Watch:
    """What was seen while the load lasted."""

    lives: Sequence[Life] = ()
    faults: Counter[str] = field(default_factory=Counter)
    troubles: list[str] = field(default_factory=list)
    connections_at_s: list[float] = field(default_factory=list)
    connections: list[int] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    n_programs_restarted: int = 0
    n_clients_restarted: int = 0
    rates: Rates = field(default_factory=lambda: Rates(0.0, 0.0))


def watched(plan: Soak, scene: Scene) -> Watch:
    """Let the load and the faults go on, and look at everything again and again."""
    observer = Observer(scene.fleet.programs, scene.database.path)
    watch = Watch(troubles=scene.troubles)
    faults = planned_faults(
        kinds_for(scene.database.dialect),
        seconds=plan.seconds,
        every_s=plan.fault_every_s,
        random=scene.random,
    )
    began, logged, read = time.monotonic(), n_logged(scene.folder), n_read(scene.folder)
    enough = threading.Event()
    thrower = threading.Thread(target=_throw, args=(faults, scene, watch, began, enough))
    thrower.start()
    look_at_s = 0.0
    try:
        while (passed_s := time.monotonic() - began) < plan.seconds or thrower.is_alive():
            scene.fleet.look_after()
            scene.crowd.look_after()
            if look_at_s <= passed_s < plan.seconds:
                _look(observer, scene.place, watch, passed_s)
                look_at_s = passed_s + plan.look_every_s
            time.sleep(_TURN_S)
    finally:
        enough.set()
        thrower.join()
    watch.lives = list(observer.lives.values())
    watch.rates = Rates(
        (n_logged(scene.folder) - logged) / passed_s, (n_read(scene.folder) - read) / passed_s
    )
    _note_ends(watch, scene.fleet, scene.crowd)
    return watch


def _throw(
    faults: Sequence[PlannedFault],
    scene: Scene,
    watch: Watch,
    began: float,
    enough: threading.Event,
) -> None:
    for fault in faults:
        if enough.wait(max(0.0, began + fault.at_s - time.monotonic())):
            return
        try:
            throw(fault.kind, scene)
        except Exception as error:  # noqa: BLE001 - whatever it is, the soak goes on and says so
            scene.troubles.append(f"{fault.kind}: {error!r}")
        watch.faults[fault.kind] += 1


def _look(observer: Observer, place: Place, watch: Watch, at_s: float) -> None:
    handles = observer.look(at_s)
    found = handles if place.database.path is not None else place.connections()
    if found is not None:
        watch.connections_at_s.append(at_s)
        watch.connections.append(found)


def _note_ends(watch: Watch, programs: Fleet, crowd: Crowd) -> None:
    for program in programs.programs:
        watch.ends += [f"{program.name}: exit code {code}" for code in program.ends]
        watch.n_programs_restarted += program.n_starts - 1
    watch.n_clients_restarted = crowd.n_started_again
