/// Types that decode from nothing: null, or no elements.
protocol ProbeEmptiable {}
extension Optional: ProbeEmptiable {}
extension Array: ProbeEmptiable {}
extension Set: ProbeEmptiable {}
extension Dictionary: ProbeEmptiable {}
extension Presence: ProbeEmptiable {}
extension ToOne: ProbeEmptiable {}
extension ToMany: ProbeEmptiable {}

/// Relations, which lead to ever more entities.
protocol ProbeRelation {
    static var probeEmpty: Self { get }
}

extension ToOne: ProbeRelation {
    static var probeEmpty: ToOne { .notLoaded(link: nil) }
}

extension ToMany: ProbeRelation {
    static var probeEmpty: ToMany { ToMany() }
}
