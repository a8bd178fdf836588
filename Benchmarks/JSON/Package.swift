// swift-tools-version: 6.1

import PackageDescription

// Compares JSON readers: `Benchmarks/json`. A separate package without dependencies to fetch.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "web-service-client-json-benchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "web-service-client", path: "../..")],
    targets: [
        .executableTarget(
            name: "json-comparison",
            dependencies: [
                .product(name: "WebServiceClient", package: "web-service-client"), .product(name: "OData", package: "web-service-client"),
            ],
            path: "Sources/Comparison", swiftSettings: settings)
    ]
)
