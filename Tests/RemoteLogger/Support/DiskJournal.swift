import Foundation
import RemoteLogger
import WebServiceClient

/// Records the changes between a spool and an in-memory disk and which of them are synced, to enumerate every state in which a power
/// failure may leave the disk.
///
/// An unsynced change may be applied or not, independently and in any order; a write may also be applied in its first half only. A file's
/// bytes are synced only by its fsync, its name only by the fsync of its folder, which is weaker than real file systems.
final class DiskJournal: Sendable {
    /// The contents of a disk: bytes by path.
    typealias Contents = [String: [UInt8]]

    private enum Change {
        case makeDirectory(String)
        case create(String, Int)
        case write(Int, Int, [UInt8])
        case truncate(Int, Int)
        case rename(Int, String, String)
        case remove(Int, String)

        /// The number of possible outcomes of the change.
        var outcomes: Int {
            if case .write = self { 3 } else { 2 }
        }
    }

    private struct State {
        var changes: [(change: Change, isDurable: Bool)] = []
        var names: [String: Int] = [:]
        var open: [Int32: Int] = [:]
        var files = 0
    }

    private let disk: MemoryDisk
    private let before: Contents
    private let state = Locked(State())

    /// - Parameter disk: A disk whose current contents are durable.
    init(_ disk: MemoryDisk) {
        self.disk = disk
        before = Dictionary(uniqueKeysWithValues: disk.paths.map { ($0, disk[$0] ?? []) })
        state.withLock { state in
            for path in before.keys.sorted() {
                state.names[path] = state.files
                state.files += 1
            }
        }
    }

    /// The states in which a power failure may now leave the disk; `nil` if there are more than the limit.
    func outcomes(limit: Int) -> Set<Contents>? {
        let changes = state.withLock { $0.changes }
        let pending = changes.indices.filter { !changes[$0].isDurable }
        var (count, overflow) = (1, false)
        for index in pending where !overflow { (count, overflow) = count.multipliedReportingOverflow(by: changes[index].change.outcomes) }
        guard !overflow, count <= limit else { return nil }
        var outcomes: Set<Contents> = []
        for number in 0..<count {
            var (rest, choice) = (number, [Int: Int]())
            for index in pending {
                choice[index] = rest % changes[index].change.outcomes
                rest /= changes[index].change.outcomes
            }
            outcomes.insert(replay(changes.enumerated().map { ($1.change, choice[$0] ?? $1.change.outcomes - 1) }))
        }
        return outcomes
    }

    /// The result of the changes, each with its outcome.
    private func replay(_ changes: [(Change, Int)]) -> Contents {
        var names: [String: Int] = [:]
        var files: [Int: [UInt8]] = [:]
        for (number, path) in before.keys.sorted().enumerated() { (names[path], files[number]) = (number, before[path]) }
        var missing: Set<String> = []
        for (change, part) in changes {
            if case .makeDirectory(let path) = change, part == 0 { missing.insert(path) }
        }
        for (change, part) in changes where part > 0 {
            switch change {
            case .makeDirectory: break
            case .create(let path, let file): names[path] = file
            case .write(let file, let offset, let bytes):
                let written = bytes.prefix(part == 1 ? bytes.count / 2 : bytes.count)
                var content = files[file] ?? []
                if content.count < offset + written.count {
                    content += [UInt8](repeating: 0, count: offset + written.count - content.count)
                }
                content.replaceSubrange(offset..<offset + written.count, with: written)
                files[file] = content
            case .truncate(let file, let size):
                files[file] = (files[file] ?? []).prefix(size).map(\.self)
            case .rename(let file, let path, let newPath):
                if names[path] == file { names[path] = nil }
                names[newPath] = file
            case .remove(let file, let path):
                if names[path] == file { names[path] = nil }
            }
        }
        // The contents of a missing directory are missing, too.
        names = names.filter { name in !missing.contains { name.key.hasPrefix($0 + "/") } }
        return names.mapValues { files[$0] ?? [] }
    }

    /// Makes a call and records its change, even if the power fails during the call, since its outcome is then unknown.
    private func change<Result>(
        _ body: () throws(SpoolFault) -> Result, _ note: (inout State) -> Change?
    ) throws(SpoolFault) -> Result {
        let wasDead = disk.isDead
        let noted = state.withLock { state in (note(&state), state.changes.count) }
        defer {
            if !wasDead, let change = noted.0 { state.withLock { $0.changes.append((change, false)) } }
        }
        return try body()
    }

    private func settle(_ isSettled: (Change) -> Bool) {
        guard !disk.isDead else { return }
        state.withLock { state in
            for index in state.changes.indices where isSettled(state.changes[index].change) { state.changes[index].isDurable = true }
        }
    }

    /// The calls, forwarded to the disk.
    var files: SpoolFileSystem {
        let real = disk.files
        var files = real
        files.makeDirectory = { path throws(SpoolFault) in
            let wasDead = self.disk.isDead
            let parents: [String]
            do throws(SpoolFault) {
                parents = try real.makeDirectory(path)
            } catch {
                if !wasDead { self.state.withLock { $0.changes.append((.makeDirectory(path), false)) } }
                throw error
            }
            // New directories by their parents, outermost first.
            let made = parents.isEmpty ? [] : Array(parents.dropFirst()) + [path]
            self.state.withLock { state in state.changes += made.map { (.makeDirectory($0), false) } }
            return parents
        }
        files.open = { path, access throws(SpoolFault) in
            guard access == .create else {
                let file = try real.open(path, access)
                self.state.withLock { $0.open[file] = $0.names[path] }
                return file
            }
            var number = 0
            let file = try self.change { () throws(SpoolFault) in
                try real.open(path, access)
            } _: { state in
                (number, state.files) = (state.files, state.files + 1)
                state.names[path] = number
                return .create(path, number)
            }
            self.state.withLock { $0.open[file] = number }
            return file
        }
        files.write = { file, offset, buffer throws(SpoolFault) in
            try self.change { () throws(SpoolFault) in
                try real.write(file, offset, buffer)
            } _: { state in
                state.open[file].map { .write($0, offset, Array(buffer)) }
            }
        }
        files.truncate = { file, size throws(SpoolFault) in
            try self.change { () throws(SpoolFault) in
                try real.truncate(file, size)
            } _: { state in
                state.open[file].map { .truncate($0, size) }
            }
        }
        files.rename = { path, newPath throws(SpoolFault) in
            try self.change { () throws(SpoolFault) in
                try real.rename(path, newPath)
            } _: { state in
                guard let file = state.names.removeValue(forKey: path) else { return nil }
                state.names[newPath] = file
                return .rename(file, path, newPath)
            }
        }
        files.remove = { path throws(SpoolFault) in
            try self.change { () throws(SpoolFault) in
                try real.remove(path)
            } _: { state in
                state.names.removeValue(forKey: path).map { .remove($0, path) }
            }
        }
        files.sync = { file throws(SpoolFault) in
            try real.sync(file)
            guard let synced = self.state.withLock({ $0.open[file] }) else { return }
            self.settle { change in
                switch change {
                case .write(let file, _, _), .truncate(let file, _): file == synced
                case .makeDirectory, .create, .rename, .remove: false
                }
            }
        }
        files.syncDirectory = { folder throws(SpoolFault) in
            try real.syncDirectory(folder)
            self.settle { change in
                switch change {
                case .makeDirectory(let path), .create(let path, _), .rename(_, _, let path), .remove(_, let path):
                    (path as NSString).deletingLastPathComponent == folder
                case .write, .truncate: false
                }
            }
        }
        files.close = { file in
            self.state.withLock { $0.open[file] = nil }
            real.close(file)
        }
        return files
    }
}
