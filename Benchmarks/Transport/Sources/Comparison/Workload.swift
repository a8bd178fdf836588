/// A number of requests for a body of a given size, some of them concurrent.
struct Workload {
    let name: String
    let path: String
    let bytes: Int
    var requests: Int
    let atOnce: Int

    /// The workloads of the time comparison.
    static let all = [
        Workload(name: "1 at a time, 60 B", path: "/small", bytes: 60, requests: 2_000, atOnce: 1),
        Workload(name: "16 at once, 60 B", path: "/small", bytes: 60, requests: 6_000, atOnce: 16),
        Workload(name: "64 at once, 60 B", path: "/small", bytes: 60, requests: 6_000, atOnce: 64),
        Workload(name: "4 at once, 88 kB", path: "/large", bytes: 88_000, requests: 2_000, atOnce: 4),
    ]

    /// Returns the workload with another number of requests, at least the number of concurrent ones.
    func scaled(by factor: Double) -> Workload {
        var workload = self
        workload.requests = max(Int(Double(requests) * factor), atOnce)
        return workload
    }
}
