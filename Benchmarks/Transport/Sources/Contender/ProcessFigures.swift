import Foundation

/// The resources that this process has used so far.
struct ProcessFigures {
    /// The monotonic time in microseconds.
    let wall: Int64
    /// The processor time of all threads in microseconds, user and system.
    let cpu: Int64

    /// Returns the current figures.
    static var now: ProcessFigures {
        var usage = rusage()
        #if canImport(Glibc)
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #else
        getrusage(RUSAGE_SELF, &usage)
        #endif
        let cpu = microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
        return ProcessFigures(wall: Int64(DispatchTime.now().uptimeNanoseconds / 1_000), cpu: cpu)
    }

    private static func microseconds(_ time: timeval) -> Int64 {
        Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_usec)
    }

    /// The resident memory; 0 on systems without `/proc`.
    static var residentKilobytes: Int {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
