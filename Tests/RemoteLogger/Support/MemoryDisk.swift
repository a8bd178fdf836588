import Foundation
import RemoteLogger
import TestSupport
import WebServiceClient

/// An in-memory disk that tracks synced data; each call can fail, and the disk can die.
final class MemoryDisk: Sendable {
    private final class Node: Sendable {
        struct Content {
            var bytes: [UInt8] = []
            var synced: [UInt8] = []
        }
        let content = Locked(Content())
    }

    private struct State {
        var names: [String: Node] = [:]
        var syncedNames: [String: Node] = [:]
        var directories: Set<String> = ["/"]
        var syncedDirectories: Set<String> = ["/"]
        var open: [Int32: Node] = [:]
        var locks: [String: Int32] = [:]
        var lockFiles: [Int32: String] = [:]
        var lastFile: Int32 = 2
        var calls = 0
        var dyingCall: Int?
        var isDead = false
        var peak = 0

        /// Marks the directories of a file that a test has placed as existing.
        mutating func found(_ path: String) {
            for directory in MemoryDisk.directories(above: path) where directories.insert(directory).inserted {
                syncedDirectories.insert(directory)
            }
        }
    }

    private let state = Locked(State())
    /// The faults: returns the error number for a call's name and number, if it must fail.
    let faults = Locked<@Sendable (_ call: String, _ number: Int) -> Int32?>({ _, _ in nil })

    /// The bytes of every file that can't be read.
    let unreadable = Locked<Range<Int>?>(nil)

    /// - Parameter dyingCall: The number of the changing call at which the disk dies, from 1.
    init(dyingAt dyingCall: Int? = nil) {
        state.withLock { $0.dyingCall = dyingCall }
    }

    /// The number of changing calls so far.
    var calls: Int { state.withLock { $0.calls } }
    var isDead: Bool { state.withLock { $0.isDead } }
    /// The maximum bytes of all files together at any time.
    var peak: Int { state.withLock { $0.peak } }
    var paths: [String] { state.withLock { $0.names.keys.sorted() } }
    var segments: [String] { paths.filter { $0.hasSuffix(".segment") } }

    subscript(path: String) -> [UInt8]? {
        get { state.withLock { $0.names[path] }?.content.withLock { $0.bytes } }
        set {
            guard let newValue else { return state.withLock { $0.names[path] = nil } }
            // Open files see the new bytes, too.
            let node = state.withLock { $0.names[path] } ?? Node()
            node.content.withLock {
                $0.bytes = newValue
                $0.synced = newValue
            }
            state.withLock {
                $0.names[path] = node
                $0.syncedNames[path] = node
                $0.found(path)
            }
        }
    }

    private static func directory(of path: String) -> String {
        let parent = path.split(separator: "/").dropLast().joined(separator: "/")
        return "/" + parent
    }

    /// The directories of a file, outermost first.
    private static func directories(above path: String) -> [String] {
        path == "/" ? [] : directories(above: directory(of: path)) + [directory(of: path)]
    }

    /// The disk as the next process finds it after this process is killed.
    func afterKill() -> MemoryDisk {
        let disk = MemoryDisk()
        for path in paths { disk[path] = self[path] }
        let directories = state.withLock { $0.directories }
        disk.state.withLock { ($0.directories, $0.syncedDirectories) = (directories, directories) }
        return disk
    }

    /// The disk after a power failure: any part of the unsynced data remains, chosen by the generator.
    func afterPowerFailure(using generator: inout SeededGenerator) -> MemoryDisk {
        let disk = MemoryDisk()
        let (names, synced) = state.withLock { ($0.names, $0.syncedNames) }
        let keepsNames = Bool.random(using: &generator)
        let directories = state.withLock { keepsNames ? $0.directories : $0.syncedDirectories }
        for (path, node) in keepsNames ? names : synced {
            // The contents of a missing directory are missing, too.
            guard Self.directories(above: path).allSatisfy(directories.contains) else { continue }
            let content = node.content.withLock { $0 }
            var bytes = content.synced
            for index in content.bytes.indices where Bool.random(using: &generator) {
                if index == bytes.count { bytes.append(0) }
                if index < bytes.count { bytes[index] = content.bytes[index] }
            }
            disk[path] = bytes
        }
        return disk
    }

    /// Passes a call or fails it.
    private func enter(_ call: String, changes: Bool = true) throws(SpoolFault) {
        let (number, isDead) = state.withLock { state in
            if changes, !state.isDead { state.calls += 1 }
            if changes, state.calls == state.dyingCall { state.isDead = true }
            return (state.calls, state.isDead)
        }
        if isDead { throw SpoolFault(5, call) }
        if let code = faults.withLock({ $0 })(call, number) { throw SpoolFault(code, call) }
    }

    private func node(_ file: Int32) throws(SpoolFault) -> Node {
        guard let node = state.withLock({ $0.open[file] }) else { throw SpoolFault(9, "file") }
        return node
    }

    private func notePeak() {
        state.withLock { state in
            state.peak = max(state.peak, state.names.values.reduce(0) { $0 + $1.content.withLock { $0.bytes.count } })
        }
    }

    var files: SpoolFileSystem {
        SpoolFileSystem(
            makeDirectory: { path throws(SpoolFault) in
                let made = self.state.withLock { state in
                    (Self.directories(above: path) + [path]).filter { !state.directories.contains($0) }
                }
                try self.enter("mkdir", changes: !made.isEmpty)
                self.state.withLock { $0.directories.formUnion(made) }
                return made.map(Self.directory(of:))
            },
            list: { path throws(SpoolFault) in
                try self.enter("opendir", changes: false)
                let names = self.paths + self.state.withLock { $0.directories }
                let below = names.filter { $0.hasPrefix(path + "/") }.map { String($0.dropFirst(path.count + 1)) }
                return Set(below.compactMap { $0.split(separator: "/").first.map(String.init) }).sorted()
            },
            open: { path, access throws(SpoolFault) in
                try self.enter("open", changes: access == .create)
                let file = self.state.withLock { state -> Int32? in
                    if access == .create {
                        let node = Node()
                        state.names[path] = node
                        state.found(path)
                    }
                    guard let node = state.names[path] else { return nil }
                    state.lastFile += 1
                    state.open[state.lastFile] = node
                    return state.lastFile
                }
                guard let file else { throw SpoolFault(2, "open") }
                return file
            },
            lock: { path throws(SpoolFault) in
                try self.enter("flock", changes: false)
                return self.state.withLock { state in
                    guard state.locks[path] == nil else { return nil }
                    state.lastFile += 1
                    state.locks[path] = state.lastFile
                    state.lockFiles[state.lastFile] = path
                    return state.lastFile
                }
            },
            size: { file throws(SpoolFault) in
                try self.enter("fstat", changes: false)
                return try self.node(file).content.withLock { $0.bytes.count }
            },
            read: { file, offset, buffer throws(SpoolFault) in
                try self.enter("read", changes: false)
                let wanted = offset..<offset + buffer.count
                if let bad = self.unreadable.withLock({ $0 }), wanted.overlaps(bad) { throw SpoolFault(5, "read") }
                return try self.node(file).content.withLock { content in
                    guard offset < content.bytes.count else { return 0 }
                    let count = min(buffer.count, content.bytes.count - offset)
                    buffer.copyBytes(from: content.bytes[offset..<offset + count])
                    return count
                }
            },
            write: { file, offset, buffer throws(SpoolFault) in
                // A call that dies or fails may have written a part.
                let fault: SpoolFault?
                do throws(SpoolFault) {
                    try self.enter("write")
                    fault = nil
                } catch {
                    fault = error
                }
                let count = fault == nil ? buffer.count : buffer.count / 2
                if fault == nil || self.isDead && self.state.withLock({ $0.calls == $0.dyingCall }) || fault?.code == 28 {
                    try self.node(file).content.withLock { content in
                        if content.bytes.count < offset + count {
                            content.bytes += [UInt8](repeating: 0, count: offset + count - content.bytes.count)
                        }
                        content.bytes.replaceSubrange(offset..<offset + count, with: buffer.prefix(count))
                    }
                }
                if let fault { throw fault }
                self.notePeak()
                return count
            },
            truncate: { file, size throws(SpoolFault) in
                try self.enter("ftruncate")
                try self.node(file).content.withLock { $0.bytes.removeLast(max(0, $0.bytes.count - size)) }
            },
            sync: { file throws(SpoolFault) in
                try self.enter("fsync")
                try self.node(file).content.withLock { $0.synced = $0.bytes }
            },
            close: { file in
                self.state.withLock { state in
                    state.open[file] = nil
                    if let path = state.lockFiles.removeValue(forKey: file) { state.locks[path] = nil }
                }
            },
            rename: { path, newPath throws(SpoolFault) in
                try self.enter("rename")
                let isThere = self.state.withLock { state in
                    guard let node = state.names.removeValue(forKey: path) else { return false }
                    state.names[newPath] = node
                    return true
                }
                if !isThere { throw SpoolFault(2, "rename") }
            },
            remove: { path throws(SpoolFault) in
                try self.enter("unlink")
                if self.state.withLock({ $0.names.removeValue(forKey: path) }) == nil { throw SpoolFault(2, "unlink") }
            },
            syncDirectory: { path throws(SpoolFault) in
                try self.enter("fsync directory")
                self.state.withLock { state in
                    state.syncedNames = state.syncedNames.filter { Self.directory(of: $0.key) != path }
                    for (name, node) in state.names where Self.directory(of: name) == path { state.syncedNames[name] = node }
                    for directory in state.directories where Self.directory(of: directory) == path {
                        state.syncedDirectories.insert(directory)
                    }
                }
            })
    }
}
