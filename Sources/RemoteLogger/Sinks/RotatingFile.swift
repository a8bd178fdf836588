import Foundation

/// A file that lines are appended to, and that makes place for a new one by size and time.
struct RotatingFile: Sendable {
    private let path: String
    private let rotation: FileRotation
    private let clock: any LogClock
    private let files: SpoolFileSystem
    private var file: Int32?
    private var size = 0
    /// The period that the file belongs to.
    private var period: UInt64 = 0

    init(path: String, rotation: FileRotation, clock: any LogClock, files: SpoolFileSystem) {
        self.path = path
        self.rotation = rotation
        self.clock = clock
        self.files = files
    }

    private var currentPeriod: UInt64 {
        rotation.period.map { clock.time / max(1, $0.wholeNanoseconds) } ?? 0
    }

    /// Appends lines.
    ///
    /// - Returns: how many of them, the last ones, couldn't be written.
    mutating func append(_ lines: [[UInt8]]) -> Int {
        var rest = lines[...]
        do throws(SpoolFault) {
            while let first = rest.first {
                let file = try open()
                let now = currentPeriod
                if size > 0, size > rotation.bytes - first.count || now != period {
                    try rotate()
                    continue
                }
                period = now
                var chunk: [UInt8] = []
                while let line = rest.first, chunk.isEmpty || size + chunk.count <= rotation.bytes - line.count, chunk.count < 256 << 10 {
                    chunk += line
                    rest.removeFirst()
                }
                do throws(SpoolFault) {
                    try files.writeAll(file, size, chunk)
                } catch {
                    // No half lines.
                    try? files.truncate(file, size)
                    rest = lines[(rest.startIndex - chunk.count(where: { $0 == 0x0A }))...]
                    throw error
                }
                size += chunk.count
            }
        } catch {
            close()
        }
        return rest.count
    }

    private mutating func open() throws(SpoolFault) -> Int32 {
        if let file { return file }
        let found: Int32?
        do throws(SpoolFault) {
            found = try files.open(path, .update)
        } catch let fault where fault.isMissing {
            found = nil
        }
        guard let found else {
            let made = try files.open(path, .create)
            (file, size, period) = (made, 0, currentPeriod)
            return made
        }
        do throws(SpoolFault) {
            size = try files.size(found)
        } catch {
            files.close(found)
            throw error
        }
        // Which period an earlier run wrote in is known from the file alone.
        period = Self.lastChange(of: path).map { time in rotation.period.map { time / max(1, $0.wholeNanoseconds) } ?? 0 } ?? currentPeriod
        file = found
        return found
    }

    private static func lastChange(of path: String) -> UInt64? {
        let date = (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
        return date.flatMap {
            $0.timeIntervalSince1970 > 0 && $0.timeIntervalSince1970 < 1e10 ? UInt64($0.timeIntervalSince1970 * 1e9) : nil
        }
    }

    /// Gives each file the next name; the oldest goes.
    private mutating func rotate() throws(SpoolFault) {
        close()
        if rotation.files == 0 {
            try files.remove(path)
            return
        }
        for number in stride(from: rotation.files - 1, through: 1, by: -1) {
            do throws(SpoolFault) {
                try files.rename("\(path).\(number)", "\(path).\(number + 1)")
            } catch let fault where fault.isMissing {
                // There aren't so many yet.
            }
        }
        try files.rename(path, "\(path).1")
    }

    func sync() {
        // What can't be synced is written nonetheless, and more can't be done for it.
        if let file { try? files.sync(file) }
    }

    mutating func close() {
        if let file { files.close(file) }
        file = nil
    }
}
