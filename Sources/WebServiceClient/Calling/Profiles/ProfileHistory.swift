/// The endpoints that a client had at one time: those of the class, with a profile or without one. See
/// ``WebServiceClient/WebServiceClient/profileHistory``.
public struct ProfileGeneration: Sendable, CustomStringConvertible {
    /// The number: 0 for the endpoints that the client was created with. Each profile that replaces another one gets a new number, and a
    /// profile that is restored keeps its own.
    public let number: Int
    /// The profile; `nil` for the class's endpoints alone.
    public let profile: ServiceProfile?
    /// Watches the first calls of a profile on trial.
    let canary: ProfileCanary?

    /// The number, and the profile's own version if it has one.
    public var description: String {
        guard let profile else { return "generation \(number), without a profile" }
        return "generation \(number)" + (profile.version.map { ", version \($0) of the profile" } ?? "")
    }
}

/// The generations of a client's endpoints.
struct ProfileHistory: Sendable {
    /// The maximum number of generations to keep, including the current one.
    static let limit = 3

    private(set) var generations: [ProfileGeneration]
    private(set) var current: ProfileGeneration
    /// The service root before the first profile, or else that of the first profile. Profiles must keep its origin if neither client nor
    /// class has a root.
    private(set) var root = ""
    /// The highest number so far.
    private var highest = 0

    /// Creates the history of a new client.
    ///
    /// - Parameter ownRoot: The service root that the client has without a profile.
    init(_ profile: ServiceProfile? = nil, root ownRoot: String = "") {
        current = ProfileGeneration(number: 0, profile: profile, canary: nil)
        generations = [current]
        if let profile { keepRoot(of: profile, ownRoot) }
    }

    /// The generation before the current one; `nil` if there is none.
    var previous: ProfileGeneration? { generations.dropLast().last }

    /// Begins a generation.
    mutating func begin(_ profile: ServiceProfile?, root ownRoot: String, canary: ProfileCanary?) {
        highest += 1
        current = ProfileGeneration(number: highest, profile: profile, canary: canary)
        generations = generations.suffix(Self.limit - 1) + [current]
        if let profile { keepRoot(of: profile, ownRoot) }
    }

    /// Returns to the previous generation, and forgets the current one.
    mutating func rollBack() {
        guard let previous else { return }
        generations.removeLast()
        current = previous
    }

    /// The root of the program comes first, even if the program removes it later: a profile must not take its place then.
    private mutating func keepRoot(of profile: ServiceProfile, _ ownRoot: String) {
        guard root.isEmpty, !profile.baseURL.isEmpty else { return }
        root = ownRoot.isEmpty ? profile.baseURL : ownRoot
    }
}
