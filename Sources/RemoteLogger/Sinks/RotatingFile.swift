import Foundation

/// A file that lines are appended to, with rotation by size and time.
struct RotatingFile: Sendable {
    /// The requested path, which may be a link.
    private let path: String
    /// The target of the path; `nil` while it isn't open.
    private var target: LineTarget?
    private let find: @Sendable (String) throws(SpoolFault) -> LineTarget
    /// The error of the last write; `nil` after a success.
    private(set) var fault: SpoolFault?
    private let rotation: FileRotation
    private let clock: any LogClock
    private let files: SpoolFileSystem
    private var file: Int32?
    private var size = 0
    /// The period of the current file.
    private var period: UInt64 = 0

    /// - Parameter find: Follows a path to its target.
    init(
        path: String, rotation: FileRotation, clock: any LogClock, files: SpoolFileSystem,
        find: @escaping @Sendable (String) throws(SpoolFault) -> LineTarget
    ) {
        self.path = path
        self.find = find
        // Clamps the values again, since the properties can be set to anything.
        self.rotation = FileRotation(bytes: rotation.bytes, period: rotation.period, files: rotation.files)
        self.clock = clock
        self.files = files
    }

    private var currentPeriod: UInt64 {
        rotation.period.map { clock.time / max(1, $0.wholeNanoseconds) } ?? 0
    }

    /// Appends lines.
    ///
    /// - Returns: The number of lines, at the end, that couldn't be written.
    mutating func append(_ lines: [[UInt8]]) -> Int {
        var rest = lines[...]
        do throws(SpoolFault) {
            // `??` doesn't propagate typed errors.
            let target = if let target { target } else { try find(path) }
            self.target = target
            switch target {
            case .file: break
            case .device(let path):
                let device = if let file { file } else { try files.open(path, .device) }
                file = device
                try write(&rest, to: device)
            case .descriptor(let number): try write(&rest, to: number)
            }
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
                    // Removes a partly written chunk.
                    try? files.truncate(file, size)
                    rest = lines[(rest.startIndex - chunk.count(where: { $0 == 0x0A }))...]
                    throw error
                }
                size += chunk.count
            }
            fault = nil
        } catch {
            close()
            fault = error
        }
        return rest.count
    }

    /// Writes lines to a target that isn't a regular file. A line that fails may be partly written.
    private mutating func write(_ lines: inout ArraySlice<[UInt8]>, to file: Int32) throws(SpoolFault) {
        while var rest = lines.first {
            while !rest.isEmpty { rest.removeFirst(try LineTarget.write(rest, to: file)) }
            lines.removeFirst()
        }
    }

    private mutating func open() throws(SpoolFault) -> Int32 {
        if let file { return file }
        let path = filePath
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
        // Only the file's date reveals the period of an earlier run.
        period = Self.lastChange(of: path).map { time in rotation.period.map { time / max(1, $0.wholeNanoseconds) } ?? 0 } ?? currentPeriod
        file = found
        return found
    }

    /// The path of the file after following links.
    private var filePath: String {
        if case .file(let path) = target { path } else { path }
    }

    private static func lastChange(of path: String) -> UInt64? {
        let date = (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
        return date.flatMap {
            $0.timeIntervalSince1970 > 0 && $0.timeIntervalSince1970 < 1e10 ? UInt64($0.timeIntervalSince1970 * 1e9) : nil
        }
    }

    /// Renames each file to the next number and deletes the oldest.
    private mutating func rotate() throws(SpoolFault) {
        let path = filePath
        close()
        // The links may have changed since; the written file is the one to rename.
        target = .file(path)
        if rotation.files == 0 {
            try files.remove(path)
            return
        }
        for number in numbers(of: path) {
            do throws(SpoolFault) {
                try files.rename("\(path).\(number)", "\(path).\(number + 1)")
            } catch let fault where fault.isMissing {
                // There are fewer files so far.
            }
        }
        try files.rename(path, "\(path).1")
    }

    /// The numbers of the files to rename, in descending order.
    private func numbers(of path: String) -> [Int] {
        let (folder, name) = ((path as NSString).deletingLastPathComponent, (path as NSString).lastPathComponent)
        // A directory may be writable without being readable: then every possible number is tried.
        guard let names = try? files.list(folder.isEmpty ? "." : folder) else { return (1..<max(1, rotation.files)).reversed() }
        let numbers = names.lazy.filter { $0.hasPrefix(name + ".") }.compactMap { Int($0.dropFirst(name.count + 1)) }
        return numbers.filter { $0 > 0 && $0 < rotation.files }.sorted(by: >)
    }

    func sync() {
        // If the sync fails, the lines are still written, and nothing more can be done.
        if let file { try? files.sync(file) }
    }

    mutating func close() {
        if let file { files.close(file) }
        file = nil
        target = nil
    }
}
